"""tools/java finds a Java for Spark in JAVA_HOME, then in PATH, and otherwise installs it or says what to install.

Every test gives it a PATH with nothing in it but the few commands it calls and made-up `java`, `apt-get` and `id`
scripts, so that nothing of this machine's own Java is seen or changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "tools" / "java"
COMMANDS = ("sh", "sed", "env", "ln", "true")


class Machine:
    """A made-up computer: a folder of commands, an optional JAVA_HOME, and whether installing is allowed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.log = folder / "apt.log"
        self.environment = {"PATH": str(self.bin), "TIDINGS_NO_INSTALL": "1"}
        self.bin.mkdir()
        for command in COMMANDS:
            found = shutil.which(command)
            assert found is not None, f"this test needs the command {command}"
            (self.bin / command).symlink_to(found)

    def command(self, name: str, body: str) -> None:
        write_script(self.bin / name, body)

    def java(self, specification: str, home: str) -> Path:
        """A Java home whose `bin/java` says that it is of this version."""
        path = self.folder / home
        (path / "bin").mkdir(parents=True)
        write_script(path / "bin" / "java", says(specification, path))
        return path

    def java_on_path(self, specification: str, home: str) -> Path:
        path = self.java(specification, home)
        (self.bin / "java").symlink_to(path / "bin" / "java")
        return path

    def allow_installing(self, apt_get: str, user: int = 0) -> None:
        del self.environment["TIDINGS_NO_INSTALL"]
        self.command("id", f"echo {user}")
        self.command("apt-get", f'echo "apt-get $*" >> "{self.log}"\n{apt_get}')

    def run(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run([SCRIPT], env=self.environment, capture_output=True, text=True, timeout=30, check=False)

    def apt_calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


def write_script(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def says(specification: str, home: Path) -> str:
    """The lines of `java -XshowSettings:properties -version` that matter, and one that must not confuse."""
    return (
        f"echo 'Picked up JAVA_TOOL_OPTIONS: -Djava.home=/elsewhere' >&2\n"
        f"echo 'Property settings:' >&2\n"
        f"echo '    java.home = {home}' >&2\n"
        f"echo '    java.specification.version = {specification}' >&2\n"
        f"echo '    java.vm.specification.version = 99' >&2"
    )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("version", ["17", "21", "25"])
def test_java_home_is_used_when_new_enough(machine: Machine, version: str) -> None:
    home = machine.java(version, "jdk")
    machine.environment["JAVA_HOME"] = str(home)
    result = machine.run()
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{home}\n", "")


def test_java_home_comes_before_path(machine: Machine) -> None:
    home = machine.java("17", "chosen")
    machine.java_on_path("21", "other")
    machine.environment["JAVA_HOME"] = str(home)
    assert machine.run().stdout == f"{home}\n"


def test_the_home_of_a_java_in_path_is_what_java_says_not_where_its_link_is(machine: Machine) -> None:
    home = machine.java_on_path("17", "with a space/jdk")
    result = machine.run()
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{home}\n", "")


@pytest.mark.parametrize(("specification", "version"), [("1.8", "8"), ("11", "11")])
def test_an_older_java_home_is_passed_over_for_a_newer_java_in_path_and_said(
    machine: Machine, specification: str, version: str
) -> None:
    old = machine.java(specification, "old")
    new = machine.java_on_path("21", "new")
    machine.environment["JAVA_HOME"] = str(old)
    result = machine.run()
    assert (result.returncode, result.stdout) == (0, f"{new}\n")
    assert result.stderr == f"JAVA_HOME is Java {version}: {old}/bin/java\nusing Java 21: {machine.bin}/java\n"


@pytest.mark.parametrize(("specification", "version"), [("1.8", "8"), ("11", "11"), ("16", "16")])
def test_only_older_javas_is_a_failure_that_names_them(machine: Machine, specification: str, version: str) -> None:
    machine.java_on_path(specification, "old")
    result = machine.run()
    assert (result.returncode, result.stdout) == (1, "")
    assert f"java in PATH is Java {version}: {machine.bin}/java" in result.stderr


def test_a_java_home_without_a_java_is_named(machine: Machine) -> None:
    machine.environment["JAVA_HOME"] = str(machine.folder / "nowhere")
    result = machine.run()
    assert (result.returncode, result.stdout) == (1, "")
    assert f"JAVA_HOME does not run as Java: {machine.folder}/nowhere/bin/java" in result.stderr


def test_a_java_that_only_says_that_there_is_no_java_does_not_count(machine: Machine) -> None:
    """macOS has such a /usr/bin/java."""
    machine.command("java", "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    result = machine.run()
    assert (result.returncode, result.stdout) == (1, "")
    assert f"java in PATH does not run as Java: {machine.bin}/java" in result.stderr


def test_without_any_java_the_message_says_what_to_install_and_how(machine: Machine) -> None:
    result = machine.run()
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "Spark needs Java 17 or newer, and none was found in JAVA_HOME (not set) or PATH.\n"
        "Install it, and run this again:\n"
        "  Debian, Ubuntu   sudo apt-get install openjdk-17-jre-headless    (or default-jre-headless)\n"
        "  Fedora           sudo dnf install java-latest-openjdk-headless\n"
        '  macOS            brew install openjdk@17 && export JAVA_HOME="$(brew --prefix openjdk@17)"\n'
        "Where it is installed already, set JAVA_HOME to its folder, the one that holds bin/java.\n"
    )


UPDATE = "apt-get -qq update"
INSTALL = "apt-get -qq -y --no-install-recommends install"


def installs(machine: Machine, package: str) -> str:
    """An `apt-get` that knows one package, which puts a Java 17 into PATH."""
    home = machine.java("17", "installed")
    return f"""case "$*" in
        *update) exit 100 ;;
        *" {package}") ln -s "{home}/bin/java" "{machine.bin}/java" ;;
        *) echo "E: Unable to locate package" >&2; exit 100 ;;
    esac"""


def test_root_installs_what_is_missing_even_when_the_update_fails(machine: Machine) -> None:
    machine.allow_installing(installs(machine, "openjdk-17-jre-headless"))
    result = machine.run()
    assert (result.returncode, result.stdout) == (0, f"{machine.folder}/installed\n")
    assert "no Java 17 or newer; installing one with apt-get …" in result.stderr
    assert machine.apt_calls() == [UPDATE, f"{INSTALL} openjdk-17-jre-headless"]


def test_where_apt_has_no_java_17_its_default_is_installed(machine: Machine) -> None:
    machine.allow_installing(installs(machine, "default-jre-headless"))
    result = machine.run()
    assert (result.returncode, result.stdout) == (0, f"{machine.folder}/installed\n")
    assert machine.apt_calls() == [
        UPDATE,
        f"{INSTALL} openjdk-17-jre-headless",
        f"{INSTALL} default-jre-headless",
    ]


def test_another_user_installs_through_sudo_that_asks_for_no_password(machine: Machine) -> None:
    machine.allow_installing(installs(machine, "openjdk-17-jre-headless"), user=1000)
    machine.command("sudo", 'test "$1" = -n || exit 9; shift; exec "$@"')
    assert machine.run().stdout == f"{machine.folder}/installed\n"


@pytest.mark.parametrize("sudo", [None, "echo 'sudo: a password is required' >&2; exit 1"])
def test_without_the_rights_nothing_is_installed(machine: Machine, sudo: str | None) -> None:
    machine.allow_installing("exit 0", user=1000)
    if sudo is not None:
        machine.command("sudo", sudo)
    result = machine.run()
    assert (result.returncode, result.stdout, machine.apt_calls()) == (1, "", [])
    assert result.stderr.startswith("Spark needs Java 17 or newer")


def test_installing_can_be_turned_off(machine: Machine) -> None:
    machine.allow_installing("exit 0")
    machine.environment["TIDINGS_NO_INSTALL"] = "1"
    result = machine.run()
    assert (result.returncode, machine.apt_calls()) == (1, [])


def test_the_script_can_be_run() -> None:
    assert os.access(SCRIPT, os.X_OK)
