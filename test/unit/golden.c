/*-------------------------------------------------------------------------
 *
 * golden.c
 *		Make the golden vectors of docs/format.md, without bloomtype.
 *
 * This program includes none of bloomtype's code.  It follows the text of
 * docs/format.md, and takes its hashes from the xxHash library, linked, where
 * bloomtype compiles the header's code in.  What both get is the format.
 *
 * Each line is a row of SQL, as it stands in docs/format.md and in
 * sql/golden.sql; test/unit/check-golden compares.  On a line by itself, "--"
 * and a name begin a section.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include <assert.h>
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
 *							HASHES
 * ----------------------------------------------------------------
 */

static void
print_hex(const Bytes *bytes)
{
	for (size_t i = 0; i < bytes->len; i++)
		printf("%02x", bytes->data[i]);
}

static void
hash_row(const char *type, const char *key, int64_t seed, Bytes bytes)
{
	printf("('%s', '%s', %lld, '", type, key, (long long) seed);
	print_hex(&bytes);
	printf("', '%016llx'),\n",
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

	/* positions: their weight, 3 for A, and their number */
	hash_row("tsvector", "fat:2A,4 cat", 0,
			 JOIN(U32(2), ITEM("cat"), of_number(0, 2),
				  ITEM("fat"), of_number(2, 2), of_number(3 << 14 | 2, 2),
				  of_number(4, 2)));
	/* the right operand comes first */
	hash_row("tsquery", "fat & !cat <3> rat", 0,
			 JOIN(U32(6), TAG(2),
				  TAG(4), of_number(3, 2), TAG(0), ITEM("rat"),
				  TAG(1), TAG(0), ITEM("cat"),
				  TAG(0), ITEM("fat")));
}

/* Days from 2000-01-01 to 2026-11-20, and microseconds of a day. */
#define SOME_DAY	9820
#define DAY_USECS	INT64_C(86400000000)

static void
hash_rows(void)
{
	const int64_t noon_or_so = INT64_C(45296789012);	/* 12:34:56.789012 */

	printf("-- hashes\n");
	hash_row("int2", "5", 0, of_number(5, 8));
	hash_row("int4", "5", 0, of_number(5, 8));
	hash_row("int8", "5", 0, of_number(5, 8));
	hash_row("int8", "5", 1, of_number(5, 8));
	hash_row("int8", "5", -1, of_number(5, 8));
	hash_row("int2", "-1", 0, of_number((uint64_t) -1, 8));
	hash_row("int8", "0", 0, of_number(0, 8));
	hash_row("int8", "9223372036854775807", 0, of_number(INT64_MAX, 8));
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
	hash_row("timestamp", "-infinity", 0, of_number((uint64_t) INT64_MIN, 8));
	hash_row("time", "12:34:56.789012", 0, of_number(noon_or_so, 8));
	hash_row("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", 0,
			 of_hex("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"));
	hash_row("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", 42,
			 of_hex("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"));
	hash_row("text", "", 0, of_string(""));
	hash_row("text", "bloom", 0, of_string("bloom"));
	hash_row("text", "bloom", 42, of_string("bloom"));
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
		1, 3, 4, 8, 9, 16, 17, 64, 128, 129, 240, 241, 1024, 1025, 3000
	};

	printf("-- lengths\n");
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
	{
		Bytes		bytes = {0};

		for (int j = 0; j < lengths[i]; j++)
			bytes.data[bytes.len++] = "bloom"[j % 5];
		printf("(%d, '%016llx', '%016llx'),\n", lengths[i],
			   (unsigned long long) hash_key(&bytes, 0),
			   (unsigned long long) hash_key(&bytes, 42));
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
	printf("('%016llx', %llu, %d, '{", (unsigned long long) hash,
		   (unsigned long long) m, k);
	for (int i = 0; i < k; i++)
		printf("%s%llu", i == 0 ? "" : ",", (unsigned long long) position[i]);
	printf("}'),\n");
}

static void
position_rows(void)
{
	Bytes		five = of_number(5, 8);
	uint64_t	hash = hash_key(&five, 0);

	printf("-- positions\n");
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

	printf("('%s', '%s', %llu, '%llu'),\n", type, key,
		   (unsigned long long) shards,
		   (unsigned long long) multiply_high(hash, shards));
}

static void
shard_rows(void)
{
	printf("-- shards\n");
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
 *							FILTERS
 * ----------------------------------------------------------------
 */

typedef struct Shape
{
	uint32_t	key_type;		/* of the keys, if there are any */
	const char *type_name;		/* NULL: the number is enough */
	uint32_t	words;
	int			k;
	int64_t		seed;
	uint64_t	capacity;
	double		fp_prob;
} Shape;

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
	Bytes		name = {0};
	size_t		type_words = 0;
	uint32_t	key_type = shape->key_type;

	if (shape->type_name != NULL)
	{
		name = of_string(shape->type_name);
		type_words = (name.len + 7) / 8;
		key_type = 0x80000000 | (uint32_t) XXH3_64bits(name.data, name.len);
	}
	put(&out, 1, 1);			/* version */
	put(&out, representation, 1);
	put(&out, shape->k, 1);
	put(&out, type_words, 1);
	put(&out, count == 0 ? 0 : key_type, 4);
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

/* The expression is in dollar quotes, since it may have quotes itself. */
static void
print_row(const char *sql, const Bytes *bytes)
{
	printf("($$%s$$, '", sql);
	print_hex(bytes);
	printf("'),\n");
}

static void
filter_row(const char *sql, Shape shape, const Bytes *keys, size_t nkeys)
{
	uint64_t	hashes[64];
	Bytes		out;
	bool		as_keys = nkeys < shape.words || nkeys == 0;
	uint64_t	count = nkeys;
	uint8_t		bits[1024] = {0};

	for (size_t i = 0; i < nkeys; i++)
		hashes[i] = hash_key(&keys[i], (uint64_t) shape.seed);
	qsort(hashes, nkeys, sizeof(uint64_t), compare);

	if (!as_keys)
	{
		count = 0;
		for (size_t i = 0; i < nkeys; i++)
		{
			uint64_t	position[64];

			positions(hashes[i], shape.words * UINT64_C(64), shape.k, position);
			for (int j = 0; j < shape.k; j++)
				bits[position[j] / 8] |= 1 << position[j] % 8;
		}
		for (uint64_t i = 0; i < shape.words * UINT64_C(64); i++)
			count += bits[i / 8] >> i % 8 & 1;
	}

	out = header(&shape, as_keys ? 1 : 2, count);
	if (as_keys)
	{
		for (size_t i = 0; i < nkeys; i++)
			put(&out, hashes[i], 8);
	}
	else
	{
		memcpy(out.data + out.len, bits, shape.words * 8);
		out.len += shape.words * 8;
	}

	print_row(sql, &out);
}

#define INT8OID		20
#define TEXTOID		25
#define BOOLOID		16
#define FLOAT8OID	701
#define UUIDOID		2950

static void
filter_rows(void)
{
	const Shape none = {0, NULL, 0, 0, 0, 0, 0};
	const Shape thousand = {INT8OID, NULL, (1000 * 10 + 63) / 64, 5, 0, 1000, 0.01};
	const Shape hundred = {TEXTOID, NULL, (100 * 15 + 63) / 64, 7, 42, 100, 0.001};
	Shape		ten = {INT8OID, NULL, (10 * 10 + 63) / 64, 5, 0, 10, 0.01};
	const Shape fitted = {FLOAT8OID, NULL, (20 * 10 + 63) / 64, 5, 0, 20, 0.01};
	Bytes		keys[64];

	printf("-- filters\n");
	filter_row("bloom_agg(i) FROM generate_series(1, 0) AS i", none, NULL, 0);
	filter_row("bloom_empty(1000)", thousand, NULL, 0);

	for (int i = 0; i < 20; i++)
		keys[i] = of_number(i + 1, 8);
	filter_row("bloom_add_all(bloom_empty(1000), '{1,2,3}'::int[])",
			   thousand, keys, 3);
	filter_row("bloom_add_all(bloom_empty(10), '{1}'::int8[])", ten, keys, 1);
	filter_row("bloom_add_all(bloom_empty(10), '{1,2}'::int8[])", ten, keys, 2);
	filter_row("bloom_agg(i, 10, 0.01) FROM generate_series(1, 10) AS i",
			   ten, keys, 10);

	for (int i = 0; i < 20; i++)
		keys[i] = of_number(double_bits((i + 1) / 2.0), 8);
	filter_row("bloom_agg(i::float8 / 2) FROM generate_series(1, 20) AS i",
			   fitted, keys, 20);

	keys[0] = of_string("a");
	keys[1] = of_string("b");
	filter_row("bloom_add_all(bloom_empty(100, 0.001, 42), '{a,b}'::text[])",
			   hundred, keys, 2);

	/* by the shape's own arithmetic: half of the bits set, 2^-hashes */
	keys[0] = of_string("bloom");
	keys[1] = of_string("");
	keys[2] = of_string("filter");
	filter_row("bloom_add_all(bloom_shape(192, 3, -7), '{bloom,\"\",filter}'::text[])",
			   (Shape) {TEXTOID, NULL, 3, 3, -7, 44, 0.125}, keys, 3);
	keys[0] = of_number(1, 1);
	filter_row("bloom_add(bloom_shape(64, 1), true)",
			   (Shape) {BOOLOID, NULL, 1, 1, 0, 44, 0.5}, keys, 1);
	keys[0] = of_hex("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
	filter_row("bloom_add(bloom_shape(64, 64), 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid)",
			   (Shape) {UUIDOID, NULL, 1, 64, 0, 1, 1.0 / (1ull << 32) / (1ull << 32)},
			   keys, 1);

	/* key types with a name */
	ten.key_type = 0;
	ten.type_name = "int8[]";
	keys[0] = JOIN(U32(1), U32(2), U32(1), ITEM8(1), ITEM8(2));
	filter_row("bloom_add(bloom_empty(10), '{1,2}'::int[])", ten, keys, 1);
	ten.type_name = "(int8,text)";
	keys[0] = JOIN(U32(2), ITEM8(5), ITEM("x"));
	filter_row("bloom_add(bloom_empty(10), (5, 'x'))", ten, keys, 1);
	keys[1] = JOIN(U32(2), ITEM8(6), ITEM("y"));
	filter_row("bloom_add_all(bloom_empty(10), ARRAY[(5, 'x'), (6, 'y')])",
			   ten, keys, 2);
}

/* ----------------------------------------------------------------
 *							COUNTING FILTERS
 * ----------------------------------------------------------------
 */

/* Counter i is half of byte i/2: the low half, if i is even. */
static unsigned int
counter(const uint8_t *counters, uint64_t i)
{
	return counters[i / 2] >> i % 2 * 4 & 15;
}

static void
add_to_counter(uint8_t *counters, uint64_t i, unsigned int times)
{
	unsigned int sum = counter(counters, i) + times;

	if (sum > 15)
		sum = 15;
	counters[i / 2] &= 0xf0 >> i % 2 * 4;
	counters[i / 2] |= sum << i % 2 * 4;
}

/* The keys are distinct, and each was added so many times. */
static void
counting_row(const char *sql, Shape shape, const Bytes *keys,
			 const unsigned int *times, size_t nkeys)
{
	uint64_t	hashes[64];
	uint64_t	sorted[64];
	bool		as_keys = nkeys < shape.words || nkeys == 0;
	uint64_t	count = nkeys;
	uint8_t		counters[1024] = {0};
	Bytes		out;

	for (size_t i = 0; i < nkeys; i++)
		hashes[i] = sorted[i] = hash_key(&keys[i], (uint64_t) shape.seed);
	qsort(sorted, nkeys, sizeof(uint64_t), compare);

	if (as_keys)
	{
		uint8_t		counts[64] = {0};

		out = header(&shape, 17, count);
		for (size_t i = 0; i < nkeys; i++)
		{
			put(&out, sorted[i], 8);
			for (size_t j = 0; j < nkeys; j++)
			{
				if (hashes[j] == sorted[i])
					add_to_counter(counts, i, times[j]);
			}
		}
		for (size_t i = 0; i < (nkeys + 15) / 16 * 8; i++)
			put(&out, counts[i], 1);
	}
	else
	{
		for (size_t i = 0; i < nkeys; i++)
		{
			uint64_t	position[64];

			positions(hashes[i], shape.words * UINT64_C(64), shape.k, position);
			for (int j = 0; j < shape.k; j++)
			{
				bool		repeated = false;

				for (int before = 0; before < j; before++)
					repeated |= position[before] == position[j];
				if (!repeated)
					add_to_counter(counters, position[j], times[i]);
			}
		}
		count = 0;
		for (uint64_t i = 0; i < shape.words * UINT64_C(64); i++)
			count += counter(counters, i) > 0;
		out = header(&shape, 18, count);
		for (size_t i = 0; i < shape.words * 32; i++)
			put(&out, counters[i], 1);
	}
	print_row(sql, &out);
}

static void
counting_rows(void)
{
	const Shape none = {0, NULL, 0, 0, 0, 0, 0};
	const Shape thousand = {INT8OID, NULL, (1000 * 10 + 63) / 64, 5, 0, 1000, 0.01};
	const Shape text = {TEXTOID, NULL, (6 * 10 + 63) / 64, 5, 42, 6, 0.01};
	Shape		ten = {INT8OID, NULL, (10 * 10 + 63) / 64, 5, 0, 10, 0.01};
	Bytes		keys[64];
	unsigned int times[64];

	for (int i = 0; i < 20; i++)
	{
		keys[i] = of_number(i + 1, 8);
		times[i] = i + 1;
	}
	printf("-- counting\n");
	counting_row("counting_bloom_agg(i, 10, 0.01) FROM generate_series(1, 0) AS i",
				 none, NULL, NULL, 0);
	counting_row("counting_bloom_empty(1000)", thousand, NULL, NULL, 0);
	counting_row("counting_bloom_add_all(counting_bloom_empty(1000), '{1,2,2}'::int[])",
				 thousand, keys, times, 2);
	counting_row("counting_bloom_agg(i, 1000, 0.01) FROM generate_series(1, 17) AS i, generate_series(1, i)",
				 thousand, keys, times, 17);
	counting_row("counting_bloom_agg(i, 10, 0.01) FROM generate_series(1, 5) AS i, generate_series(1, i)",
				 ten, keys, times, 5);
	counting_row("counting_bloom_agg(i, 10, 0.01) FROM generate_series(1, 20) AS i, generate_series(1, i)",
				 ten, keys, times, 20);

	keys[0] = of_string("bloom");
	counting_row("counting_bloom_add(counting_bloom_empty(6, 0.01, 42), 'bloom'::text)",
				 text, keys, times, 1);
	ten.type_name = "(int8,text)";
	keys[0] = JOIN(U32(2), ITEM8(5), ITEM("x"));
	counting_row("counting_bloom_add(counting_bloom_empty(10), (5, 'x'))",
				 ten, keys, times, 1);
}

int
main(void)
{
	hash_rows();
	length_rows();
	position_rows();
	shard_rows();
	filter_rows();
	counting_rows();
	return 0;
}
