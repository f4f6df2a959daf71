/*-------------------------------------------------------------------------
 *
 * golden.c
 *		Make the golden vectors of docs/format.md, without bloomtype.
 *
 * This program includes none of bloomtype's code.  It follows the text of
 * docs/format.md, and takes its hashes from the xxHash library, linked, where
 * bloomtype compiles the header's code in.  What both get is the format.
 *
 * The output is clients/vectors.json, one vector a line; clients/README.md has
 * its schema.  sql/golden.sql checks it against the server, test/unit/bits.c
 * reads its positions, and each client's test reads all of it.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ----------------------------------------------------------------
 *							FROM KEY TO BITS
 * ----------------------------------------------------------------
 */

typedef struct Bytes
{
	size_t		len;
	uint8_t		data[4096];
} Bytes;

static uint64_t
hash_key(const Bytes *key, uint64_t seed)
{
	uint64_t	hash = XXH3_64bits_withSeed(key->data, key->len, seed);

	return hash == 0 ? 1 : hash;
}

/* The high 64 bits of a product of 64-bit numbers, as done by hand. */
static uint64_t
multiply_high(uint64_t a, uint64_t b)
{
	uint64_t	al = a & 0xffffffff;
	uint64_t	ah = a >> 32;
	uint64_t	bl = b & 0xffffffff;
	uint64_t	bh = b >> 32;
	uint64_t	low = al * bl;
	uint64_t	mid1 = ah * bl;
	uint64_t	mid2 = al * bh;
	uint64_t	carry;

	carry = ((low >> 32) + (mid1 & 0xffffffff) + (mid2 & 0xffffffff)) >> 32;
	return ah * bh + (mid1 >> 32) + (mid2 >> 32) + carry;
}

static void
positions(uint64_t hash, uint64_t m, int k, uint64_t *out)
{
	uint64_t	a = hash;

	for (int i = 0; i < k; i++)
	{
		a = a * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du;
		out[i] = multiply_high(a, m);
	}
}

/* ----------------------------------------------------------------
 *							CANONICAL BYTES
 * ----------------------------------------------------------------
 */

static void
put(Bytes *bytes, uint64_t value, int width)
{
	for (int i = 0; i < width; i++)
		bytes->data[bytes->len++] = (uint8_t) (value >> (8 * i));
}

static Bytes
of_number(uint64_t value, int width)
{
	Bytes		bytes = {0};

	put(&bytes, value, width);
	return bytes;
}

static uint64_t
double_bits(double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static Bytes
of_string(const char *string)
{
	Bytes		bytes = {0};

	bytes.len = strlen(string);
	assert(bytes.len <= sizeof(bytes.data));
	memcpy(bytes.data, string, bytes.len);
	return bytes;
}

static Bytes
of_hex(const char *hex)
{
	Bytes		bytes = {0};

	for (; *hex; hex++)
	{
		unsigned int byte;

		if (*hex == '-')
			continue;
		sscanf(hex++, "%2x", &byte);
		bytes.data[bytes.len++] = byte;
	}
	return bytes;
}

/* A numeric: its digits are those of base 10000, the first of this weight. */
static Bytes
of_numeric(int weight, int sign, int ndigits, const int *digits)
{
	Bytes		bytes = {0};

	put(&bytes, (uint16_t) weight, 2);
	put(&bytes, sign, 2);
	for (int i = 0; i < ndigits; i++)
		put(&bytes, digits[i], 2);
	return bytes;
}

#define NUMERIC(weight, sign, ...) \
	of_numeric(weight, sign, \
			   sizeof((int[]) {__VA_ARGS__}) / sizeof(int), \
			   (int[]) {__VA_ARGS__})

/* Values made of others are written as a sequence of these. */
static Bytes
join(Bytes left, Bytes right)
{
	assert(left.len + right.len <= sizeof(left.data));
	memcpy(left.data + left.len, right.data, right.len);
	left.len += right.len;
	return left;
}

static Bytes
item(Bytes value)
{
	return join(of_number(value.len, 4), value);
}

static Bytes
null_item(void)
{
	return of_number(0xffffffff, 4);
}

#define INT8(value)		of_number((uint64_t) (value), 8)
#define ITEM8(value)	item(INT8(value))
#define ITEM(text)		item(of_string(text))
#define U32(value)		of_number(value, 4)
#define TAG(value)		of_number(value, 1)

/* The left-most is the first. */
static Bytes
join_all(const Bytes *parts, size_t nparts)
{
	Bytes		all = {0};

	for (size_t i = 0; i < nparts; i++)
		all = join(all, parts[i]);
	return all;
}

#define JOIN(...) \
	join_all((Bytes[]) {__VA_ARGS__}, \
			 sizeof((Bytes[]) {__VA_ARGS__}) / sizeof(Bytes))

/* ----------------------------------------------------------------
 *							JSON
 * ----------------------------------------------------------------
 */

static const char *separator;

static void
begin_section(const char *name)
{
	printf("%s\"%s\": [\n", separator == NULL ? "{\n" : "\n],\n", name);
	separator = "";
}

/* Each vector is a line; the last one of a section has no comma. */
static void
begin_vector(void)
{
	printf("%s{", separator);
	separator = ",\n";
}

static void
print_hex(const Bytes *bytes)
{
	for (size_t i = 0; i < bytes->len; i++)
		printf("%02x", bytes->data[i]);
}

static void
print_string(const char *string)
{
	putchar('"');
	for (; *string; string++)
	{
		if (*string == '"' || *string == '\\')
			putchar('\\');
		putchar(*string);
	}
	putchar('"');
}

/* The fewest digits that are this number. */
static void
print_double(double value)
{
	char		text[32];
	int			digits = 1;

	do
		snprintf(text, sizeof(text), "%.*g", digits, value);
	while (strtod(text, NULL) != value && digits++ < 17);
	printf("%s", text);
}

/* ----------------------------------------------------------------
 *							KEYS
 * ----------------------------------------------------------------
 */

/* The key types of SQL types: a number, or a name that makes one */
static const struct
{
	const char *sql;
	const char *key_type;
}			key_types[] =
{
	{"int2", "20"}, {"int4", "20"}, {"int8", "20"}, {"float4", "701"},
	{"float8", "701"}, {"numeric", "1700"}, {"money", "790"}, {"bool", "16"},
	{"\"char\"", "18"}, {"date", "1082"}, {"timestamp", "1114"},
	{"timestamptz", "1184"}, {"time", "1083"}, {"timetz", "1266"},
	{"interval", "1186"}, {"uuid", "2950"}, {"macaddr", "829"}, {"macaddr8", "774"},
	{"inet", "869"}, {"cidr", "869"}, {"bit(3)", "1562"}, {"varbit", "1562"},
	{"text", "25"}, {"varchar", "25"}, {"name", "25"}, {"char(9)", "25"},
	{"bytea", "17"}, {"oid", "26"}, {"regtype", "26"}, {"xid", "28"}, {"xid8", "5069"},
	{"pg_lsn", "3220"}, {"tid", "27"}, {"jsonb", "3802"},
	{"golden_enum", "enum golden_enum"}, {"golden_pair", "(int8,text)"},
	{"int2[]", "int8[]"}, {"int4[]", "int8[]"}, {"int8[]", "int8[]"},
	{"text[]", "text[]"}, {"numeric[]", "numeric[]"},
	{"golden_enum[]", "enum golden_enum[]"},
	{"golden_pair[]", "(int8,text)[]"},
	{"int4range", "range int4range"}, {"int8range", "range int8range"},
	{"numrange", "range numrange"}, {"daterange", "range daterange"},
	{"int8multirange", "multirange int8multirange"}
};

typedef struct KeyType
{
	uint32_t	number;
	const char *name;			/* empty: the number is enough */
} KeyType;

static KeyType
key_type_of_name(const char *name)
{
	KeyType		type = {
		0x80000000 | (uint32_t) XXH3_64bits(name, strlen(name)), name
	};

	return type;
}

static KeyType
key_type_of_sql(const char *sql)
{
	KeyType		type = {0, ""};

	for (size_t i = 0; i < sizeof(key_types) / sizeof(key_types[0]); i++)
	{
		const char *key_type = key_types[i].key_type;

		if (strcmp(key_types[i].sql, sql) != 0)
			continue;
		if (key_type[0] < '0' || key_type[0] > '9')
			return key_type_of_name(key_type);
		type.number = (uint32_t) atol(key_type);
	}
	assert(type.number != 0);
	return type;
}

typedef struct Key
{
	const char *type;			/* in SQL */
	char		text[40];
	Bytes		bytes;
} Key;

static Key
make_key(const char *type, const char *text, Bytes bytes)
{
	Key			key = {type, "", bytes};

	assert(strlen(text) < sizeof(key.text));
	strcpy(key.text, text);
	return key;
}

static Key
int_key(int64_t value)
{
	char		text[40];

	snprintf(text, sizeof(text), "%lld", (long long) value);
	return make_key("int8", text, INT8(value));
}

static Key
text_key(const char *text)
{
	return make_key("text", text, of_string(text));
}

/* Its fields, without the braces. */
static void
print_key(const char *type, const char *text, const Bytes *bytes)
{
	printf("\"type\": ");
	print_string(type);
	printf(", \"key\": ");
	print_string(text);
	printf(", \"bytes\": \"");
	print_hex(bytes);
	printf("\"");
}

static void
print_key_type(KeyType type)
{
	printf("\"key_type\": %u, \"key_type_name\": ", type.number);
	print_string(type.name);
}

static void
hash_row(const char *type, const char *key, int64_t seed, Bytes bytes)
{
	begin_vector();
	print_key(type, key, &bytes);
	printf(", ");
	print_key_type(key_type_of_sql(type));
	printf(", \"seed\": \"%lld\", \"hash\": \"%016llx\"}", (long long) seed,
		   (unsigned long long) hash_key(&bytes, (uint64_t) seed));
}

static void
more_scalar_rows(void)
{
	hash_row("numeric", "0.00", 0, NUMERIC(0, 0));
	hash_row("numeric", "1.50", 0, NUMERIC(0, 0, 1, 5000));
	hash_row("numeric", "-1.5", 0, NUMERIC(0, 0x4000, 1, 5000));
	hash_row("numeric", "100000000", 0, NUMERIC(2, 0, 1));
	hash_row("numeric", "0.00001234", 0, NUMERIC(-2, 0, 1234));
	hash_row("numeric", "98765432.1", 0, NUMERIC(1, 0, 9876, 5432, 1000));
	hash_row("numeric", "NaN", 0, NUMERIC(0, 0xc000));
	hash_row("timetz", "12:34:56.789012+02", 0,
			 JOIN(INT8(INT64_C(45296789012)), U32((uint32_t) -7200)));
	hash_row("interval", "1 month -1 day 2 hours", 0,
			 JOIN(INT8(29), INT8(INT64_C(7200000000))));
	hash_row("interval", "29 days 2 hours", 0,
			 JOIN(INT8(29), INT8(INT64_C(7200000000))));
	hash_row("interval", "-00:00:00.000001", 0,
			 JOIN(INT8(-1), INT8(INT64_C(86399999999))));
	hash_row("money", "0", 0, INT8(0));
	hash_row("oid", "4294967295", 0, U32(UINT32_MAX));
	hash_row("regtype", "int8", 0, U32(20));
	hash_row("xid", "7", 0, U32(7));
	hash_row("xid8", "18446744073709551615", 0, INT8(-1));
	hash_row("pg_lsn", "1/A", 0, INT8((INT64_C(1) << 32) + 10));
	hash_row("tid", "(70000,3)", 0, JOIN(U32(70000), of_number(3, 2)));
	hash_row("\"char\"", "b", 0, of_string("b"));
	hash_row("inet", "10.1.2.3", 0, of_hex("04200a010203"));
	hash_row("inet", "10.1.2.3/8", 0, of_hex("04080a010203"));
	hash_row("cidr", "10.0.0.0/8", 0, of_hex("04080a000000"));
	hash_row("inet", "2001:db8::1/64", 0,
			 of_hex("064020010db8000000000000000000000001"));
	hash_row("macaddr", "08:00:2b:01:02:03", 0, of_hex("08002b010203"));
	hash_row("macaddr8", "08:00:2b:01:02:03:04:05", 0,
			 of_hex("08002b0102030405"));
	hash_row("varbit", "", 0, U32(0));
	hash_row("varbit", "1010000011", 0, JOIN(U32(10), of_hex("a0c0")));
	hash_row("bit(3)", "101", 0, JOIN(U32(3), of_hex("a0")));
}

static void
container_rows(void)
{
	/* number of dimensions; length and lower bound of each; elements */
	hash_row("int8[]", "{}", 0, U32(0));
	hash_row("int2[]", "{1,NULL,-1}", 0,
			 JOIN(U32(1), U32(3), U32(1), ITEM8(1), null_item(), ITEM8(-1)));
	hash_row("int4[]", "[0:0]={5}", 0, JOIN(U32(1), U32(1), U32(0), ITEM8(5)));
	hash_row("int4[]", "{{1},{2}}", 0,
			 JOIN(U32(2), U32(2), U32(1), U32(1), U32(1), ITEM8(1), ITEM8(2)));
	hash_row("text[]", "{bloom,\"\",NULL}", 0,
			 JOIN(U32(1), U32(3), U32(1), ITEM("bloom"), ITEM(""), null_item()));
	hash_row("golden_enum[]", "{flower}", 0,
			 JOIN(U32(1), U32(1), U32(1), ITEM("flower")));
	hash_row("numeric[]", "{1.50}", 0,
			 JOIN(U32(1), U32(1), U32(1), item(NUMERIC(0, 0, 1, 5000))));

	/* number of columns; columns */
	hash_row("golden_pair", "(5,x)", 0, JOIN(U32(2), ITEM8(5), ITEM("x")));
	hash_row("golden_pair", "(,\"\")", 0, JOIN(U32(2), null_item(), ITEM("")));
	hash_row("golden_pair[]", "{\"(5,x)\"}", 0,
			 JOIN(U32(1), U32(1), U32(1),
				  item(JOIN(U32(2), ITEM8(5), ITEM("x")))));

	/* flags; bounds */
	hash_row("int8range", "[1,4]", 0, JOIN(TAG(2), ITEM8(1), ITEM8(5)));
	hash_row("int4range", "empty", 0, TAG(1));
	hash_row("numrange", "(,1.5]", 0, JOIN(TAG(12), item(NUMERIC(0, 0, 1, 5000))));
	hash_row("daterange", "(,)", 0, TAG(24));
	/* number of ranges; ranges */
	hash_row("int8multirange", "{[1,2),[4,)}", 0,
			 JOIN(U32(2), item(JOIN(TAG(2), ITEM8(1), ITEM8(2))),
				  item(JOIN(TAG(18), ITEM8(4)))));

	/* tags */
	hash_row("jsonb", "null", 0, TAG(0));
	hash_row("jsonb", "1.50", 0, JOIN(TAG(3), item(NUMERIC(0, 0, 1, 5000))));
	hash_row("jsonb", "[true, false, \"x\"]", 0,
			 JOIN(TAG(5), U32(3), TAG(2), TAG(1), TAG(4), ITEM("x")));
	hash_row("jsonb", "{\"aa\": [], \"b\": {\"c\": 0}}", 0,
			 JOIN(TAG(6), U32(2),
				  ITEM("b"), TAG(6), U32(1), ITEM("c"), TAG(3), item(NUMERIC(0, 0)),
				  ITEM("aa"), TAG(5), U32(0)));
}

/* Days from 2000-01-01 to 2026-11-20, and microseconds of a day. */
#define SOME_DAY	9820
#define DAY_USECS	INT64_C(86400000000)

static void
hash_rows(void)
{
	const int64_t noon_or_so = INT64_C(45296789012);	/* 12:34:56.789012 */

	begin_section("hashes");
	hash_row("int2", "5", 0, of_number(5, 8));
	hash_row("int4", "5", 0, of_number(5, 8));
	hash_row("int8", "5", 0, of_number(5, 8));
	hash_row("int8", "5", 1, of_number(5, 8));
	hash_row("int8", "5", -1, of_number(5, 8));
	hash_row("int2", "-1", 0, of_number((uint64_t) -1, 8));
	hash_row("int8", "0", 0, of_number(0, 8));
	hash_row("int8", "9223372036854775807", 0, of_number(INT64_MAX, 8));
	hash_row("int8", "-9223372036854775808", 0, INT8(INT64_MIN));
	hash_row("int8", "9007199254740993", 0, INT8(INT64_C(9007199254740993)));
	hash_row("int8", "-4294967297", 0, INT8(INT64_C(-4294967297)));
	hash_row("float8", "0", 0, of_number(0, 8));
	hash_row("float8", "-0", 0, of_number(0, 8));
	hash_row("float8", "1.5", 0, of_number(double_bits(1.5), 8));
	hash_row("float4", "1.5", 0, of_number(double_bits(1.5), 8));
	hash_row("float4", "0.1", 0, of_number(double_bits((double) 0.1f), 8));
	hash_row("float8", "0.1", 0, of_number(double_bits(0.1), 8));
	hash_row("float8", "-Infinity", 0, of_number(0xfff0000000000000u, 8));
	hash_row("float8", "NaN", 0, of_number(0x7ff8000000000000u, 8));
	hash_row("bool", "false", 0, of_number(0, 1));
	hash_row("bool", "true", 0, of_number(1, 1));
	hash_row("date", "2000-01-01", 0, of_number(0, 4));
	hash_row("date", "2026-11-20", 0, of_number(SOME_DAY, 4));
	hash_row("date", "1999-12-31", 0, of_number((uint32_t) -1, 4));
	hash_row("date", "infinity", 0, of_number(INT32_MAX, 4));
	hash_row("timestamp", "2026-11-20 12:34:56.789012", 0,
			 of_number(SOME_DAY * DAY_USECS + noon_or_so, 8));
	hash_row("timestamptz", "2026-11-20 14:34:56.789012+02", 0,
			 of_number(SOME_DAY * DAY_USECS + noon_or_so, 8));
	hash_row("timestamp", "1999-12-31 23:59:59.999999", 0, INT8(-1));
	hash_row("date", "-infinity", 0, U32((uint32_t) INT32_MIN));
	hash_row("timestamptz", "infinity", 0, INT8(INT64_MAX));
	hash_row("timestamp", "-infinity", 0, of_number((uint64_t) INT64_MIN, 8));
	hash_row("time", "12:34:56.789012", 0, of_number(noon_or_so, 8));
	hash_row("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", 0,
			 of_hex("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"));
	hash_row("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", 42,
			 of_hex("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"));
	hash_row("text", "", 0, of_string(""));
	hash_row("text", "bloom", 0, of_string("bloom"));
	hash_row("text", "bloom", 42, of_string("bloom"));
	hash_row("text", "bloom", INT64_MAX, of_string("bloom"));
	hash_row("text", "bloom", INT64_MIN, of_string("bloom"));
	hash_row("text", "h\xc3\xb6lle \xe2\x82\xac \xf0\x9f\x8c\xb8", 0,
			 of_string("h\xc3\xb6lle \xe2\x82\xac \xf0\x9f\x8c\xb8"));
	hash_row("text", "bloom ", 0, of_string("bloom "));
	hash_row("varchar", "bloom", 0, of_string("bloom"));
	hash_row("name", "bloom", 0, of_string("bloom"));
	hash_row("char(9)", "bloom", 0, of_string("bloom"));
	hash_row("bytea", "\\x00ff00", 0, of_hex("00ff00"));
	hash_row("golden_enum", "bloom", 0, of_string("bloom"));
	more_scalar_rows();
	container_rows();
}

/* XXH3 goes another way for each of these lengths. */
static void
length_rows(void)
{
	static const int lengths[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96,
		97, 127, 128, 129, 130, 143, 144, 145, 200, 239, 240, 241, 255, 256,
		257, 511, 512, 1023, 1024, 1025, 1087, 1088, 1089, 2048, 2049, 3000
	};

	begin_section("lengths");
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
	{
		Bytes		bytes = {0};

		for (int j = 0; j < lengths[i]; j++)
			bytes.data[bytes.len++] = "bloom"[j % 5];
		for (int seed = 0; seed <= 42; seed += 42)
		{
			begin_vector();
			printf("\"length\": %d, \"seed\": \"%d\", \"hash\": \"%016llx\"}",
				   lengths[i], seed,
				   (unsigned long long) hash_key(&bytes, seed));
		}
	}
}

/* ----------------------------------------------------------------
 *							POSITIONS
 * ----------------------------------------------------------------
 */

static void
position_row(uint64_t hash, uint64_t m, int k)
{
	uint64_t	position[64];

	positions(hash, m, k, position);
	begin_vector();
	printf("\"hash\": \"%016llx\", \"bits\": %llu, \"hashes\": %d, \"positions\": [",
		   (unsigned long long) hash, (unsigned long long) m, k);
	for (int i = 0; i < k; i++)
		printf("%s%llu", i == 0 ? "" : ",", (unsigned long long) position[i]);
	printf("]}");
}

static void
position_rows(void)
{
	Bytes		five = of_number(5, 8);
	uint64_t	hash = hash_key(&five, 0);

	begin_section("positions");
	position_row(hash, 64, 1);
	position_row(hash, 64, 7);
	position_row(hash, 192, 7);
	position_row(hash, 1024, 7);
	position_row(hash, 10048, 5);
	position_row(hash, 10000000, 7);
	position_row(hash, UINT64_C(1) << 32, 7);
	position_row(1, 1024, 7);
	position_row(UINT64_MAX, 1024, 7);
	position_row(UINT64_MAX, UINT64_C(1) << 32, 64);
}

/* ----------------------------------------------------------------
 *							SHARDS
 * ----------------------------------------------------------------
 */

static void
shard_row(const char *type, const char *key, Bytes bytes, uint64_t shards)
{
	uint64_t	hash = hash_key(&bytes, UINT64_C(0x6472616873));

	begin_vector();
	print_key(type, key, &bytes);
	printf(", \"shards\": %llu, \"shard\": %llu}", (unsigned long long) shards,
		   (unsigned long long) multiply_high(hash, shards));
}

static void
shard_rows(void)
{
	begin_section("shards");
	shard_row("int4", "5", of_number(5, 8), 1);
	shard_row("int4", "5", of_number(5, 8), 2);
	shard_row("int4", "5", of_number(5, 8), 16);
	shard_row("int4", "5", of_number(5, 8), 2147483647);
	shard_row("int2", "-1", of_number(UINT64_MAX, 8), 1000);
	shard_row("numeric", "5.0", of_number(5, 8), 2147483647);
	shard_row("numeric", "-9223372036854775808", of_number(UINT64_C(1) << 63, 8), 2147483647);
	shard_row("float4", "5", of_number(5, 8), 2147483647);
	shard_row("float8", "5", of_number(5, 8), 2147483647);
	shard_row("float8", "-0", of_number(0, 8), 2147483647);
	shard_row("float8", "0.5", of_number(double_bits(0.5), 8), 2147483647);
	shard_row("float8", "9223372036854775808", of_number(double_bits(9223372036854775808.0), 8), 2147483647);
	shard_row("float8", "NaN", of_number(UINT64_C(0x7ff8000000000000), 8), 2147483647);
	shard_row("text", "bloom", of_string("bloom"), 2147483647);
	shard_row("char(9)", "bloom", of_string("bloom"), 2147483647);
	shard_row("text", "", of_string(""), 2147483647);
	shard_row("date", "2000-01-01", of_number(0, 4), 2147483647);
}

/* ----------------------------------------------------------------
 *							SIZES
 * ----------------------------------------------------------------
 */

typedef struct Shape
{
	KeyType		key_type;		/* of the keys, if there are any */
	uint32_t	words;
	int			k;
	int64_t		seed;
	uint64_t	capacity;
	double		fp_prob;
} Shape;

/* The rate by which best_params decides: of three digits, where Cao has them */
static double
table_rate(int bits_per_key, int k)
{
	double		rate = pow(-expm1(-(double) k / bits_per_key), k);
	char		text[32];

	if (bits_per_key < 2 || bits_per_key > 20)
		return rate;
	if (bits_per_key == 5 && k == 3)
		return 0.092;			/* where 0.0918 is right */
	snprintf(text, sizeof(text), "%.3g", rate);
	return strtod(text, NULL);
}

static Shape
shape_for(KeyType key_type, uint64_t capacity, double fp_prob, int64_t seed)
{
	Shape		shape = {key_type, 0, 0, seed, capacity, fp_prob};

	for (int bits_per_key = 1; bits_per_key <= 64; bits_per_key++)
	{
		for (int k = 1; k <= ceil(bits_per_key * log(2)); k++)
		{
			if (table_rate(bits_per_key, k) > fp_prob)
				continue;
			shape.words = (capacity * bits_per_key + 63) / 64;
			shape.k = k;
			return shape;
		}
	}
	abort();
}

static void
size_rows(void)
{
	static const double rates[] = {
		0.99, 0.9, 0.64, 0.5, 0.4, 0.3, 0.283, 0.25, 0.2, 0.1, 0.05, 0.03, 0.02,
		0.01, 0.005, 0.003, 0.002, 0.001, 0.0005, 1e-4, 1.09e-4, 6.71e-5, 1e-5,
		1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13,
		0.0919
	};
	static const uint64_t capacities[] = {1, 7, 1000, 24902, 1000000, 67108864};
	const KeyType none = {0, ""};

	begin_section("sizes");
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
	{
		uint64_t	capacity = capacities[i % 6];
		Shape		shape = shape_for(none, capacity, rates[i], 0);

		begin_vector();
		printf("\"capacity\": \"%llu\", \"fp_prob\": ",
			   (unsigned long long) capacity);
		print_double(rates[i]);
		printf(", \"bits\": %llu, \"hashes\": %d}",
			   shape.words * 64ull, shape.k);
	}
}

/* ----------------------------------------------------------------
 *							FILTERS
 * ----------------------------------------------------------------
 */

#define MAX_KEYS	64

static int
compare(const void *a, const void *b)
{
	uint64_t	left = *(const uint64_t *) a;
	uint64_t	right = *(const uint64_t *) b;

	return left < right ? -1 : left > right;
}

static Bytes
header(const Shape *shape, int representation, uint64_t count)
{
	Bytes		out = {0};
	Bytes		name = of_string(shape->key_type.name);
	size_t		type_words = (name.len + 7) / 8;

	if (count == 0)
		type_words = name.len = 0;
	put(&out, 1, 1);			/* version */
	put(&out, representation, 1);
	put(&out, shape->k, 1);
	put(&out, type_words, 1);
	put(&out, count == 0 ? 0 : shape->key_type.number, 4);
	put(&out, shape->words, 4);
	put(&out, (uint64_t) shape->seed, 8);
	put(&out, shape->capacity, 8);
	put(&out, double_bits(shape->fp_prob), 8);
	put(&out, count, 8);
	assert(out.len == 44);
	out = join(out, name);
	while (out.len < 44 + 8 * type_words)
		put(&out, 0, 1);
	return out;
}

/* What a filter holds, beside its bytes */
typedef struct Content
{
	bool		as_keys;
	uint64_t	hashes[MAX_KEYS];	/* ascending, if as keys */
	size_t		nhashes;
	uint8_t		counters[64 * 64];	/* one a byte here */
	uint64_t	count;
} Content;

static void
add_positions(const Shape *shape, Content *content, const unsigned int *times)
{
	uint64_t	m = shape->words * UINT64_C(64);

	assert(m <= sizeof(content->counters));
	for (size_t i = 0; i < content->nhashes; i++)
	{
		uint64_t	position[64];

		positions(content->hashes[i], m, shape->k, position);
		for (int j = 0; j < shape->k; j++)
		{
			unsigned int sum = content->counters[position[j]] + times[i];
			bool		repeated = false;

			for (int before = 0; before < j; before++)
				repeated |= position[before] == position[j];
			if (!repeated)
				content->counters[position[j]] = sum > 15 ? 15 : sum;
		}
	}
	content->count = 0;
	for (uint64_t i = 0; i < m; i++)
		content->count += content->counters[i] > 0;
}

static Content
content_of(const Shape *shape, const Key *keys, const unsigned int *times,
		   size_t nkeys)
{
	Content		content = {0};

	content.as_keys = nkeys < shape->words || nkeys == 0;
	assert(nkeys <= MAX_KEYS);
	content.nhashes = nkeys;
	for (size_t i = 0; i < nkeys; i++)
		content.hashes[i] = hash_key(&keys[i].bytes, (uint64_t) shape->seed);

	content.count = nkeys;
	if (!content.as_keys)
		add_positions(shape, &content, times);
	qsort(content.hashes, nkeys, sizeof(uint64_t), compare);
	return content;
}

/* Does a filter say that it possibly contains a key? */
static bool
contains(const Shape *shape, const Content *content, const Key *key)
{
	uint64_t	hash = hash_key(&key->bytes, (uint64_t) shape->seed);
	uint64_t	position[64];

	if (content->as_keys)
	{
		for (size_t i = 0; i < content->nhashes; i++)
		{
			if (content->hashes[i] == hash)
				return true;
		}
		return false;
	}
	positions(hash, shape->words * UINT64_C(64), shape->k, position);
	for (int i = 0; i < shape->k; i++)
	{
		if (content->counters[position[i]] == 0)
			return false;
	}
	return true;
}

static Bytes
bytes_of(const Shape *shape, const Content *content)
{
	Bytes		out = header(shape, content->as_keys ? 1 : 2, content->count);

	if (content->as_keys)
	{
		for (size_t i = 0; i < content->nhashes; i++)
			put(&out, content->hashes[i], 8);
		return out;
	}
	for (uint64_t i = 0; i < shape->words * UINT64_C(64); i += 8)
	{
		int			byte = 0;

		for (int bit = 0; bit < 8; bit++)
			byte |= (content->counters[i + bit] > 0) << bit;
		put(&out, byte, 1);
	}
	return out;
}

static Bytes
counting_bytes_of(const Shape *shape, const Content *content, const Key *keys,
				  const unsigned int *times, size_t nkeys)
{
	Bytes		out = header(shape, content->as_keys ? 17 : 18, content->count);
	uint8_t		in_order[MAX_KEYS + 16] = {0};
	const uint8_t *counters = in_order;
	size_t		ncounters = (nkeys + 15) / 16 * 16;

	if (content->as_keys)
	{
		for (size_t i = 0; i < nkeys; i++)
		{
			put(&out, content->hashes[i], 8);
			for (size_t j = 0; j < nkeys; j++)
			{
				if (hash_key(&keys[j].bytes, (uint64_t) shape->seed) == content->hashes[i])
					in_order[i] = times[j] > 15 ? 15 : times[j];
			}
		}
	}
	else
	{
		counters = content->counters;
		ncounters = shape->words * 64;
	}
	/* the low half of a byte is the counter with the even number */
	for (size_t i = 0; i < ncounters; i += 2)
		put(&out, counters[i] | counters[i + 1] << 4, 1);
	return out;
}

/* The expression may be NULL: the server accepts the filter, but makes none. */
static void
print_filter(const char *sql, const Bytes *bytes, const Shape *shape,
			 const char *form, const Content *content)
{
	const KeyType none = {0, ""};

	begin_vector();
	printf("\"sql\": ");
	if (sql == NULL)
		printf("null");
	else
		print_string(sql);
	printf(", \"bytes\": \"");
	print_hex(bytes);
	printf("\", \"form\": \"%s\", \"bits\": %llu, \"hashes\": %d, "
		   "\"seed\": \"%lld\", \"capacity\": \"%llu\", \"fp_prob\": ",
		   form, shape->words * 64ull, shape->k,
		   (long long) shape->seed, (unsigned long long) shape->capacity);
	print_double(shape->fp_prob);
	printf(", \"count\": \"%llu\", ", (unsigned long long) content->count);
	/* a filter may have a key type, and no key yet */
	print_key_type(content->count == 0 && bytes->data[4] == 0 ? none : shape->key_type);
}

static void
print_others(const Shape *shape, const Content *content, const Key *others,
			 size_t nothers)
{
	printf(", \"others\": [");
	for (size_t i = 0; i < nothers; i++)
	{
		printf("%s{", i == 0 ? "" : ", ");
		print_key(others[i].type, others[i].text, &others[i].bytes);
		printf(", \"contains\": %s}",
			   contains(shape, content, &others[i]) ? "true" : "false");
	}
	printf("]}");
}

/*
 * A filter of these keys, each of which was added so many times; a plain one, if
 * times is NULL.  What it says of the others is computed.
 */
static void
row_of_keys(const char *sql, Shape shape, const Key *keys,
			const unsigned int *times, size_t nkeys,
			const Key *others, size_t nothers)
{
	unsigned int once[MAX_KEYS];
	Content		content;
	Bytes		bytes;

	for (size_t i = 0; i < MAX_KEYS; i++)
		once[i] = 1;
	content = content_of(&shape, keys, times == NULL ? once : times, nkeys);
	bytes = times == NULL ? bytes_of(&shape, &content) :
		counting_bytes_of(&shape, &content, keys, times, nkeys);
	print_filter(sql, &bytes, &shape,
				 content.as_keys ? "keys" : times == NULL ? "bits" : "counters",
				 &content);
	printf(", \"keys\": [");
	for (size_t i = 0; i < nkeys; i++)
	{
		printf("%s{", i == 0 ? "" : ", ");
		print_key(keys[i].type, keys[i].text, &keys[i].bytes);
		if (times != NULL)
			printf(", \"times\": %u", times[i]);
		printf("}");
	}
	printf("]");
	print_others(&shape, &content, others, nothers);
}

static void
filter_row(const char *sql, Shape shape, const Key *keys, size_t nkeys,
		   const Key *others, size_t nothers)
{
	row_of_keys(sql, shape, keys, NULL, nkeys, others, nothers);
}

#define INT8OID		20
#define TEXTOID		25
#define BOOLOID		16
#define FLOAT8OID	701
#define UUIDOID		2950

static const KeyType int8 = {INT8OID, ""};
static const KeyType text = {TEXTOID, ""};

static Shape
explicit_shape(uint32_t key_type, uint32_t words, int k, int64_t seed,
			   uint64_t capacity)
{
	/* by the shape's own arithmetic: half of the bits set, 2^-hashes */
	Shape		shape = {{key_type, ""}, words, k, seed, capacity, ldexp(1, -k)};

	return shape;
}

/*
 * Filters that the server reads and does not make: one with a key type and no
 * key, and one in bits form that has room to be in keys form.
 */
static void
read_only_rows(void)
{
	Shape		thousand = shape_for(key_type_of_sql("int8[]"), 1000, 0.01, 0);
	Shape		hundred = shape_for(int8, 100, 0.01, 0);
	const unsigned int once[] = {1};
	Key			keys[] = {int_key(1), int_key(2), make_key("int4[]", "{}", U32(0))};
	Content		content = content_of(&thousand, NULL, NULL, 0);
	Bytes		bytes = header(&thousand, 1, 0);

	bytes.len = 4;
	bytes.data[3] = 1;
	put(&bytes, thousand.key_type.number, 4);
	bytes.len = 44;
	bytes = join(bytes, of_hex("696e74385b5d0000"));
	print_filter(NULL, &bytes, &thousand, "keys", &content);
	printf(", \"keys\": []");
	print_others(&thousand, &content, keys + 2, 1);

	content = content_of(&hundred, keys, once, 1);
	content.as_keys = false;
	add_positions(&hundred, &content, once);
	bytes = bytes_of(&hundred, &content);
	print_filter(NULL, &bytes, &hundred, "bits", &content);
	printf(", \"keys\": []");
	print_others(&hundred, &content, keys, 2);
}

static void
filter_rows(void)
{
	const Shape unsized = {{0, ""}, 0, 0, 0, 0, 0};
	const Shape thousand = shape_for(int8, 1000, 0.01, 0);
	Shape		ten = shape_for(int8, 10, 0.01, 0);
	static Key	keys[MAX_KEYS];
	static Key	others[MAX_KEYS];
	Key			strangers[] = {text_key("c"), text_key("Bloom"), text_key("bloom ")};

	begin_section("filters");
	for (int i = 0; i < 40; i++)
		keys[i] = int_key(i + 1);
	for (int i = 0; i < MAX_KEYS; i++)
		others[i] = int_key(41 + i);

	filter_row("bloom_agg(i) FROM generate_series(1, 0) AS i", unsized, NULL, 0,
			   others, 2);
	filter_row("bloom_empty(1000)", thousand, NULL, 0, others, 2);
	filter_row("bloom_add_all(bloom_empty(1000), '{1,2,3}'::int[])",
			   thousand, keys, 3, others, 8);
	filter_row("bloom_add_all(bloom_empty(10), '{1}'::int8[])",
			   ten, keys, 1, others, 8);
	filter_row("bloom_add_all(bloom_empty(10), '{1,2}'::int8[])",
			   ten, keys, 2, others, 8);
	filter_row("bloom_agg(i, 10, 0.01) FROM generate_series(1, 10) AS i",
			   ten, keys, 10, others, 32);
	/* four times its capacity: half of all other keys are false positives */
	filter_row("bloom_agg(i, 10, 0.01) FROM generate_series(1, 40) AS i",
			   ten, keys, 40, others, 32);
	filter_row("bloom_add_all(bloom_empty(1000, 0.01, -9223372036854775808), '{1,2,3}'::int[])",
			   shape_for(int8, 1000, 0.01, INT64_MIN), keys, 3, others, 2);
	filter_row("bloom_add_all(bloom_empty(30, 0.000001), '{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20}'::int[])",
			   shape_for(int8, 30, 0.000001, 0), keys, 20, others, 8);

	for (int i = 0; i < 20; i++)
	{
		char		number[40];

		snprintf(number, sizeof(number), "%g", (i + 1) / 2.0);
		keys[i] = make_key("float8", number,
						   of_number(double_bits((i + 1) / 2.0), 8));
	}
	others[0] = make_key("float8", "0.25", of_number(double_bits(0.25), 8));
	others[1] = make_key("float8", "NaN", of_hex("000000000000f87f"));
	filter_row("bloom_agg(i::float8 / 2) FROM generate_series(1, 20) AS i",
			   shape_for((KeyType) {FLOAT8OID, ""}, 20, 0.01, 0), keys, 20,
			   others, 2);

	keys[0] = text_key("a");
	keys[1] = text_key("b");
	filter_row("bloom_add_all(bloom_empty(100, 0.001, 42), '{a,b}'::text[])",
			   shape_for(text, 100, 0.001, 42), keys, 2, strangers, 3);
	keys[0] = text_key("bloom");
	keys[1] = text_key("");
	keys[2] = text_key("filter");
	filter_row("bloom_add_all(bloom_empty_shaped(192, 3, -7), '{bloom,\"\",filter}'::text[])",
			   explicit_shape(TEXTOID, 3, 3, -7, 44), keys, 3, strangers, 3);
	keys[0] = make_key("bool", "true", TAG(1));
	others[0] = make_key("bool", "false", TAG(0));
	filter_row("bloom_add(bloom_empty_shaped(64, 1), true)",
			   explicit_shape(BOOLOID, 1, 1, 0, 44), keys, 1, others, 1);
	keys[0] = make_key("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
					   of_hex("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"));
	others[0] = make_key("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12",
						 of_hex("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12"));
	filter_row("bloom_add(bloom_empty_shaped(64, 64), 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid)",
			   explicit_shape(UUIDOID, 1, 64, 0, 1), keys, 1, others, 1);

	/* key types with a name */
	ten.key_type = key_type_of_sql("int8[]");
	keys[0] = make_key("int4[]", "{1,2}",
					   JOIN(U32(1), U32(2), U32(1), ITEM8(1), ITEM8(2)));
	others[0] = make_key("int4[]", "{}", U32(0));
	filter_row("bloom_add(bloom_empty(10), '{1,2}'::int[])", ten, keys, 1,
			   others, 1);
	ten.key_type = key_type_of_sql("golden_pair");
	keys[0] = make_key("golden_pair", "(5,x)",
					   JOIN(U32(2), ITEM8(5), ITEM("x")));
	keys[1] = make_key("golden_pair", "(6,y)",
					   JOIN(U32(2), ITEM8(6), ITEM("y")));
	filter_row("bloom_add(bloom_empty(10), (5, 'x'))", ten, keys, 1,
			   keys + 1, 1);
	filter_row("bloom_add_all(bloom_empty(10), ARRAY[(5, 'x'), (6, 'y')])",
			   ten, keys, 2, NULL, 0);
	read_only_rows();
}

static void
counting_rows(void)
{
	const Shape unsized = {{0, ""}, 0, 0, 0, 0, 0};
	const Shape thousand = shape_for(int8, 1000, 0.01, 0);
	Shape		ten = shape_for(int8, 10, 0.01, 0);
	static Key	keys[MAX_KEYS];
	static Key	others[8];
	unsigned int times[MAX_KEYS];

	for (int i = 0; i < 20; i++)
	{
		keys[i] = int_key(i + 1);
		times[i] = i + 1;
	}
	for (int i = 0; i < 8; i++)
		others[i] = int_key(41 + i);
	begin_section("counting");
	row_of_keys("counting_bloom_agg(i, 10, 0.01) FROM generate_series(1, 0) AS i",
				unsized, NULL, times, 0, others, 1);
	row_of_keys("counting_bloom_empty(1000)", thousand, NULL, times, 0,
				others, 1);
	row_of_keys("counting_bloom_add_all(counting_bloom_empty(1000), '{1,2,2}'::int[])",
				thousand, keys, times, 2, others, 2);
	row_of_keys("counting_bloom_agg(i, 1000, 0.01) FROM generate_series(1, 17) AS i, generate_series(1, i)",
				thousand, keys, times, 17, others, 2);
	row_of_keys("counting_bloom_agg(i, 10, 0.01) FROM generate_series(1, 5) AS i, generate_series(1, i)",
				ten, keys, times, 5, others, 8);
	row_of_keys("counting_bloom_agg(i, 10, 0.01) FROM generate_series(1, 20) AS i, generate_series(1, i)",
				ten, keys, times, 20, others, 8);

	keys[0] = text_key("bloom");
	row_of_keys("counting_bloom_add(counting_bloom_empty(6, 0.01, 42), 'bloom'::text)",
				shape_for(text, 6, 0.01, 42), keys, times, 1, NULL, 0);
	ten.key_type = key_type_of_sql("golden_pair");
	keys[0] = make_key("golden_pair", "(5,x)",
					   JOIN(U32(2), ITEM8(5), ITEM("x")));
	row_of_keys("counting_bloom_add(counting_bloom_empty(10), (5, 'x'))",
				ten, keys, times, 1, NULL, 0);
}

/* ----------------------------------------------------------------
 *							MALFORMED BYTES
 * ----------------------------------------------------------------
 */

static void
malformed_row(const char *reason, const Bytes *bytes)
{
	begin_vector();
	printf("\"bytes\": \"");
	print_hex(bytes);
	printf("\", \"reason\": ");
	print_string(reason);
	printf("}");
}

/* A good filter, but for these bytes at this offset. */
static void
patched_row(const char *reason, const Bytes *good, size_t offset,
			uint64_t value, int width)
{
	Bytes		bad = *good;

	bad.len = offset;
	put(&bad, value, width);
	if (bad.len < good->len)
		bad.len = good->len;
	malformed_row(reason, &bad);
}

/* A filter without keys, whose key type has this name. */
static Bytes
named(const char *name, size_t size)
{
	Shape		shape = shape_for(key_type_of_name(name), 10, 0.01, 0);
	Bytes		out = header(&shape, 1, 0);

	out.data[3] = (size + 7) / 8;
	out.len = 4;
	put(&out, shape.key_type.number, 4);
	out.len = 44;
	out = join(out, of_string(name));
	while (out.len < 44 + (size + 7) / 8 * 8)
		put(&out, 0, 1);
	return out;
}

static void
malformed_rows(void)
{
	const Shape unsized_shape = {{0, ""}, 0, 0, 0, 0, 0};
	const Shape thousand = shape_for(int8, 1000, 0.01, 0);
	const Shape ten = shape_for(int8, 10, 0.01, 0);
	static const char *const names[][2] = {
		{"\xff", "The name of the key type is not UTF-8."},
		{"\xc0\x80", "The name of the key type is not UTF-8."},
		{"\xed\xa0\x80", "The name of the key type is not UTF-8."},
		{"\xf4\x90\x80\x80", "The name of the key type is not UTF-8."},
		{"enum \xe2\x82", "The name of the key type is not UTF-8."},
		{"enum\tx", "The name of the key type has a control character."},
		{"enum\x7fx", "The name of the key type has a control character."}
	};
	unsigned int times[] = {1, 1, 1};
	Key			three[] = {int_key(1), int_key(2), int_key(3)};
	Content		content = content_of(&thousand, three, times, 3);
	Bytes		keys = bytes_of(&thousand, &content);
	Bytes		unsized = header(&unsized_shape, 1, 0);
	Bytes		bits;
	Bytes		bad;

	content = content_of(&ten, three, times, 2);
	bits = bytes_of(&ten, &content);

	begin_section("malformed");
	bad = keys;
	bad.len = 0;
	malformed_row("There are fewer bytes than a header has.", &bad);
	bad.len = 43;
	malformed_row("There are fewer bytes than a header has.", &bad);
	patched_row("The version is unknown.", &keys, 0, 0, 1);
	patched_row("The version is unknown.", &keys, 0, 2, 1);
	patched_row("The representation is unknown.", &keys, 1, 0, 1);
	patched_row("The representation is unknown.", &keys, 1, 3, 1);
	patched_row("The representation is unknown.", &keys, 1, 33, 1);
	patched_row("The number of hashes is out of range.", &keys, 2, 0, 1);
	patched_row("The number of hashes is out of range.", &keys, 2, 65, 1);
	patched_row("The name of the key type has a wrong size.", &keys, 3, 1, 1);
	patched_row("There are keys, but no key type.", &keys, 4, 0, 4);
	patched_row("The key type is not a built-in type.", &keys, 4, 10000, 4);
	patched_row("The key type is not a built-in type.", &keys, 4, 0x7fffffff, 4);
	patched_row("The name of the key type has a wrong size.", &keys, 4, 0x80000014, 4);
	patched_row("A filter without a shape is not all zero.", &keys, 8, 0, 4);
	patched_row("A filter without a shape is not all zero.", &unsized, 2, 1, 1);
	patched_row("A filter without a shape is not all zero.", &unsized, 12, 1, 8);
	patched_row("A filter without a shape is not all zero.", &unsized, 20, 1, 8);
	patched_row("A filter without a shape is not all zero.", &unsized, 28,
				double_bits(-0.0), 8);
	patched_row("The number of bits is out of range.", &keys, 8, (1 << 26) + 1, 4);
	patched_row("The number of bits is out of range.", &keys, 8, UINT32_MAX, 4);
	patched_row("There are too many keys for the keys form.", &keys, 8, 3, 4);
	patched_row("The capacity is out of range.", &keys, 20, 0, 8);
	patched_row("The capacity is out of range.", &keys, 20, UINT64_C(1) << 63, 8);
	patched_row("The fp_prob is out of range.", &keys, 28, double_bits(0), 8);
	patched_row("The fp_prob is out of range.", &keys, 28, double_bits(1), 8);
	patched_row("The fp_prob is out of range.", &keys, 28, double_bits(-0.01), 8);
	patched_row("The fp_prob is out of range.", &keys, 28, UINT64_C(0x7ff8000000000000), 8);
	patched_row("The number of bytes does not match the header.", &keys, 36, 2, 8);
	patched_row("The number of bytes does not match the header.", &keys, 36, 4, 8);
	patched_row("There are too many keys for the keys form.", &keys, 36, (UINT64_C(1) << 61) + 3, 8);
	patched_row("The keys are not ascending.", &keys, 44, 0, 8);
	patched_row("The keys are not ascending.", &keys, 44, UINT64_MAX, 8);
	bad = keys;
	memcpy(bad.data + 52, bad.data + 44, 8);
	malformed_row("The keys are not ascending.", &bad);
	patched_row("The number of bytes does not match the header.", &keys, keys.len, 0, 1);
	bad = keys;
	bad.len--;
	malformed_row("The number of bytes does not match the header.", &bad);

	patched_row("There are too many keys for the keys form.", &bits, 1, 1, 1);
	patched_row("There are keys, but no key type.", &bits, 4, 0, 4);
	patched_row("No bit is set in the bits form.", &bits, 36, 0, 8);
	patched_row("The number of bits set does not match.", &bits, 36, 9, 8);
	patched_row("The number of bits set does not match.", &bits, bits.len - 1, 0x80, 1);
	patched_row("The number of bytes does not match the header.", &bits, 8, 3, 4);
	patched_row("The number of bytes does not match the header.", &bits, bits.len, 0, 8);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
	{
		bad = named(names[i][0], strlen(names[i][0]));
		malformed_row(names[i][1], &bad);
	}
	bad = named("int8[]", 9);
	malformed_row("The name of the key type has a wrong size.", &bad);
	bad = named("int8[]", 8);
	bad.data[44 + 7] = 'x';
	malformed_row("The name of the key type is not padded with zeros.", &bad);
	bad = named("int8[]", 8);
	bad.data[4] ^= 1;
	malformed_row("The number of the key type does not match its name.", &bad);
	bad = named("int8[]", 129 * 8);
	malformed_row("The name of the key type has a wrong size.", &bad);
	bad = named("int8[]", 8);
	bad.len = 48;
	malformed_row("The number of bytes does not match the header.", &bad);

	content = content_of(&thousand, three, times, 3);
	bad = counting_bytes_of(&thousand, &content, three, times, 3);
	malformed_row("It is a counting_bloom.", &bad);
}

/* The text form: the base64 of bloom_empty(1000), and what is not one. */
static void
malformed_text_rows(void)
{
	static const char *const texts[][2] = {
		{"", "There are fewer bytes than a header has."},
		{"AQEFAAAAAACdAAAAAAAAAAAAAADoAwAAAAAAAHsUrkfheoQ/AAAAAAAAAAA", "It is not base64."},
		{"AQEFAAAAAACdAAAAAAAAAAAAAADoAwAAAAAAAHsUrkfheoQ/AAAAAAAAAAB=", "It is not base64."},
		{"AQEFAAAAAACdAAAAAAAAAAAAAADoAwAAAAAAAHsUrkfheoQ/AAAAAAAAAAA=A", "It is not base64."},
		{"AQEFAAAAAACdAAAAAAAAAAAAAADoAwAAAAAAAHsUrkfheoQ/AAAAAAAAAAA==", "It is not base64."},
		{"AQEFAAAAAACdAAAAAAAAAAAAAADoAwAAAAAAAHsUrkfheoQ_AAAAAAAAAAA=", "It is not base64."},
		{"AQEFAAAAAACdAAAAAAAAAAAAAADoAwAAAAAAAHsUrkfheoQ/AAAAAAAAAA==", "There are fewer bytes than a header has."}
	};

	begin_section("malformed_text");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
	{
		begin_vector();
		printf("\"text\": \"%s\", \"reason\": \"%s\"}", texts[i][0], texts[i][1]);
	}
}

int
main(void)
{
	hash_rows();
	length_rows();
	position_rows();
	shard_rows();
	size_rows();
	filter_rows();
	counting_rows();
	malformed_rows();
	malformed_text_rows();
	printf("\n]\n}\n");
	return 0;
}
