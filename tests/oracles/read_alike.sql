-- Conditions that Spark SQL and tidings read alike, one to a line, in groups. `test_spark.py` asks both about each.
-- For most of them one of its events has the value that is asked for.

-- group: strings
s = 'abc'
s = "abc"
s <> 'abc'
s < 'abc'
s >= 'abc'
s > ''
s = 'it''s'
s = 'it\'s'
s = "it's"
s = 'say "x"'
s = "say ""x"""
s = "say \"x\""
s = 'a\nb'
s = r'a\nb'
s = 'a\\c'
s = r'a\c'
s = R"a\c"
s = 'a\%c'
s = 'a%c'
s = '\u0061bc'
s = '\141bc'
s = '\U0001F600'
s = '😀'
s = '\é'
s = 'A\0'
s = 'A\u0000'
s IN ('', 'a', '\\')
s NOT IN ('a', 'abc')
s BETWEEN 'a' AND 'b'
s NOT BETWEEN 'A' AND 'a'
'abc' = s
'abc' < s
s IS NULL
s IS NOT NULL

-- group: wildcards
s LIKE 'a%'
s LIKE '%c'
s LIKE '%b%'
s LIKE 'a%c'
s LIKE 'a_c'
s LIKE '_'
s LIKE '__'
s LIKE '%'
s LIKE '%%'
s LIKE '_%'
s LIKE ''
s LIKE 'a\%c'
s LIKE 'a\\%c'
s LIKE r'a\%c'
s LIKE 'a\_c'
s LIKE 'a\\\\c'
s LIKE r'a\\c'
s LIKE '\\\\'
s LIKE 'a!%c' ESCAPE '!'
s LIKE 'a!_c' ESCAPE '!'
s LIKE 'a%%c' ESCAPE '%'
s LIKE 'a\\c' ESCAPE '!'
s LIKE '%''%'
s LIKE "%'%"
s LIKE '%\n%'
s NOT LIKE 'a%'
s NOT LIKE 'a!%c' ESCAPE '!'
NOT s LIKE 'a%'
s ILIKE 'A%'
s ILIKE '%C'
s ILIKE 'É'
s ILIKE 'a\_c'
s NOT ILIKE 'ABC'
startswith(s, 'a')
startswith(s, 'a%')
startswith(s, '')
endswith(s, 'c')
endswith(s, '\\')
contains(s, '%')
contains(s, '_')
contains(s, '')
contains(s, '\'')
NOT contains(s, 'b')

-- group: regular expressions
s RLIKE 'b'
s RLIKE '^b'
s RLIKE '^a.c$'
s RLIKE 'a\\.c'
s RLIKE r'a\.c'
s RLIKE 'a\.c'
s RLIKE '[A-Z]+'
s RLIKE '(?i)^abc$'
s RLIKE r'\\'
s RLIKE '\\\\'
s RLIKE '^$'
s RLIKE ''
s RLIKE r'^\w{3}$'
s RLIKE 'x|%|"'
s RLIKE '^.$'
s NOT RLIKE 'a'
NOT s RLIKE '^'

-- group: numbers
n = 5
n = 5.0
n = 5.
n = .5e1
n = 05
n = 5e0
n = +5
n < 5.5
n > -0.5
n = 9223372036854775807
n = -9223372036854775808
n <= 1e30
n IN (5, 0.5, -1)
n NOT IN (5, 6)
n BETWEEN 5 AND 5.5
n NOT BETWEEN -1 AND 1E1
x = 0.5
x = .5
x = 5e-1
x = 94.2
x = 0
x = -0.0
x >= 0
x < 1e308
x IN (94.2, 0.5)
amount = 94.2
amount = 94.2000
amount > 94.1999
amount = 1e-3
amount = -5
amount BETWEEN -5 AND 0.001
5 = n
0.1 < x

-- group: logic and names
flag
NOT flag
NOT NOT flag
flag = TRUE
flag <> true
flag > FALSE
flag IN (TRUE, FALSE)
TRUE
FALSE OR flag
flag AND n = 5
flag OR n = 0
n = 5 OR n = 0 AND flag
(n = 5 OR n = 0) AND flag
NOT (n = 5 OR s = 'a')
NOT n = 5 AND NOT s = 'a'
n IS NULL AND s IS NOT NULL
n = 1 OR s IS NULL
`a.b` = 7
`last name` = 'abc'
`it's` = 'it''s'
`a``b` LIKE 'a%'
r.n = 1
`r`.`n` = 1
r.`s` = 'x'
r.n IS NULL
r.s <> 'y'

-- group: arrays
array_contains(tags, 'a')
array_contains(tags, 'z')
array_contains(tags, 'it''s')
array_contains(tags, "%")
array_contains(marks, 1)
array_contains(marks, 9223372036854775807)
NOT array_contains(tags, 'a')
NOT array_contains(tags, 'z')
arrays_overlap(tags, array('z', 'a'))
arrays_overlap(array('z', 'b'), tags)
arrays_overlap(tags, array('z'))
arrays_overlap(marks, array(2, 3))
NOT arrays_overlap(tags, array('z'))
tags IS NULL

-- group: times
at = TIMESTAMP '2026-01-31 12:00:00'
at = TIMESTAMP '2026-01-31 12:00'
at = TIMESTAMP '2026-01-31T12:00:00Z'
at = TIMESTAMP '2026-01-31 12:00:00.000000'
at = TIMESTAMP '2026-01-31 12:00:00 UTC'
at = TIMESTAMP '2026-01-31 14:00:00+02:00'
at = TIMESTAMP '2026-01-31 14:00:00 +02:00'
at = TIMESTAMP '2026-01-31 14:00:00 Europe/Athens'
at = timestamp'2026-01-31 07:00:00 America/New_York'
at = TIMESTAMP '1969-12-31 23:59:59.999999'
at < TIMESTAMP '1970-01-01 00:00:00'
at = DATE '1970-01-01'
at > DATE '2026-01-31'
at > TIMESTAMP '2026-01-31'
at BETWEEN DATE '2026-01-31' AND DATE '2026-02-01'
at IN (DATE '1970-01-01', TIMESTAMP '2026-01-31 12:00:00')
day = DATE '2026-01-31'
day < DATE '2026-02-01'
day = TIMESTAMP '2026-01-31 00:00:00'
day < TIMESTAMP '2026-01-31 00:00:01'
DATE '2026-01-31' = day
at <> DATE '1970-01-01'
