"""What kind of session one has, and the Java process behind a classic one: Spark Connect has none that is in reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tidings.errors import SettingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_classic(spark: SparkSession) -> bool:
    return hasattr(spark, "_jvm")


def is_local(spark: SparkSession) -> bool:
    """Whether there are no executors but the driver. Of a session of Spark Connect that is not known."""
    if not is_classic(spark):
        return False
    master = str(spark.sparkContext.master)
    return master.startswith("local") and not master.startswith("local-cluster")


def application_of(spark: SparkSession) -> str:
    return spark.sparkContext.applicationId if is_classic(spark) else str(spark.session_id)  # type: ignore[attr-defined]


def java_of(spark: SparkSession, uri: str) -> Any:
    """The driver's Java process; `uri` names in the error what needs it."""
    if not is_classic(spark):
        raise SettingError(
            f"{uri} is opened by Hadoop in the driver's Java process, which Spark Connect does not reach; "
            "use a local folder, or a classic session"
        )
    return spark._jvm


class HadoopFiles(NamedTuple):
    """A file system of Hadoop's, the class of its paths, and the configuration of the session."""

    files: Any
    path: Any
    configuration: Any


def hadoop_files(spark: SparkSession, uri: str) -> HadoopFiles:
    """The file system that the scheme of an address names."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # without type information

    path = java_of(spark, uri).org.apache.hadoop.fs.Path
    configuration = spark._jsparkSession.sessionState().newHadoopConf()
    try:
        return HadoopFiles(path(uri).getFileSystem(configuration), path, configuration)
    except Py4JJavaError as error:
        said = error.java_exception.toString().partition("\n")[0]
        raise SettingError(
            f"Hadoop cannot open {uri}: {said}. Give the path of a local folder, or an address with a scheme that it "
            "knows, such as hdfs: or file:; for that of an object store, such as s3a:, start Spark with its jars "
            "(spark.jars.packages, for s3a org.apache.hadoop:hadoop-aws)"
        ) from None
