/*-------------------------------------------------------------------------
 *
 * set/params.c
 *		The parameters of a set, and the text of them: set/params.h.
 *
 * The text can have been made up, or be of a version that is yet to come.  What
 * is wrong is a sentence, never an error: whoever lists all sets must come past it.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "c.h"

#include "set/params.h"

#define FORMAT		1

/* What can be wrong with a parameter, after its name */
typedef enum Wrong
{
	IS_MISSING,
	IS_MISPLACED,
	IS_NO_NUMBER,
	IS_OUT_OF_RANGE,
	IS_NO_KEY_TYPE,
	NWRONG
} Wrong;

#define PARAMETER(name) {name, { \
	"Parameter \"" name "\" of the set is missing.", \
	"Parameter \"" name "\" of the set is not in its place.", \
	"Parameter \"" name "\" of the set is not a number.", \
	"Parameter \"" name "\" of the set is out of range.", \
	"Parameter \"" name "\" of the set is not the name of a key type."}}

static const struct
{
	const char *name;
	const char *wrong[NWRONG];
}			parameters[] =

{
	PARAMETER("keep"),
	PARAMETER("seed"),
	PARAMETER("kept_bits"),
	PARAMETER("key_type"),
};

#define NPARAMETERS		((int) lengthof(parameters))

static const char *const no_format = "The parameters of the set do not begin with the number of a format.";
static const char *const newer = "The parameters of the set were made by a newer version of bloomtype_set.";

/* Does a byte of a name stand for itself? */
static bool
IsPlain(unsigned char byte)
{
	return byte > ' ' && byte < 0x7f && strchr("%'\\", byte) == NULL;
}

/*
 * StoredSetWriteParams
 *		The text, for which there is STORED_SET_PARAMS_SIZE of room.
 */
void
StoredSetWriteParams(const StoredSetParams *params, const char *type_name,
					 char *text)
{
	text += sprintf(text, "%d keep=" INT64_FORMAT " seed=" INT64_FORMAT
					" kept_bits=%d key_type=", FORMAT, params->keep,
					params->seed, params->kept_bits);
	for (; *type_name != '\0'; type_name++)
	{
		unsigned char byte = (unsigned char) *type_name;

		if (IsPlain(byte))
			*text++ = (char) byte;
		else
			text += sprintf(text, "%%%02x", byte);
	}
	*text = '\0';
}

/*
 * The number that stands there, before a blank or the end.  False if there is
 * none, or it is written in another way than ours.
 */
static bool
ReadNumber(const char **text, const char *end, int64 *number, bool *is_too_large)
{
	const char *next = *text;
	bool		is_negative = next < end && *next == '-';
	const char *digits = next + is_negative;
	uint64		magnitude = 0;
	uint64		most = (uint64) PG_INT64_MAX + is_negative;

	*is_too_large = false;
	for (next = digits; next < end && *next >= '0' && *next <= '9'; next++)
	{
		uint64		digit = (uint64) (*next - '0');

		*is_too_large |= magnitude > (most - digit) / 10;
		magnitude = magnitude * 10 + digit;
	}
	if (next == digits || (next < end && *next != ' ') ||
		(*digits == '0' && (next - digits > 1 || is_negative)))
		return false;
	*number = (int64) (is_negative ? 0 - magnitude : magnitude);
	*text = next;
	return true;
}

/* The value of a digit of an escape, or -1. */
static int
HexDigit(char digit)
{
	return digit >= '0' && digit <= '9' ? digit - '0' :
		digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* The name that stands there, before a blank or the end.  False if it is none. */
static bool
ReadTypeName(const char **text, const char *end, char *name)
{
	const char *next = *text;
	size_t		len = 0;

	while (next < end && *next != ' ')
	{
		unsigned char byte = (unsigned char) *next++;

		if (len == STORED_SET_TYPE_NAME_SIZE - 1)
			return false;
		if (byte == '%')
		{
			int			high = next < end ? HexDigit(next[0]) : -1;
			int			low = next + 1 < end ? HexDigit(next[1]) : -1;

			if (high < 0 || low < 0 || IsPlain((unsigned char) (high * 16 + low)))
				return false;
			byte = (unsigned char) (high * 16 + low);
			next += 2;
		}
		else if (!IsPlain(byte))
			return false;
		name[len++] = (char) byte;
	}
	name[len] = '\0';
	*text = next;
	return BloomCheckTypeName(name, len) == NULL;
}

/* Does this stand there, before a value? */
static bool
IsNamed(const char *text, const char *end, const char *name)
{
	size_t		len = strlen(name);

	return (size_t) (end - text) > len && memcmp(text, name, len) == 0 &&
		text[len] == '=';
}

/* Is this a character of names of parameters? */
static bool
IsOfName(char character)
{
	return (character >= 'a' && character <= 'z') ||
		(character >= '0' && character <= '9') || character == '_';
}

/*
 * What is wrong where a parameter should stand, or the end (then it is NPARAMETERS):
 * another one, one that we do not know, or none.
 */
static const char *
WhatStandsThere(const char *text, const char *end, int parameter)
{
	size_t		len = 0;

	for (int i = 0; i < NPARAMETERS; i++)
	{
		if (IsNamed(text, end, parameters[i].name))
			return parameters[i].wrong[IS_MISPLACED];
	}
	while (text + len < end && IsOfName(text[len]))
		len++;
	if (len > 0 && text + len < end && text[len] == '=')
		return newer;
	return parameter < NPARAMETERS ? parameters[parameter].wrong[IS_MISSING] :
		"Behind the parameters of the set stands something else.";
}

/*
 * StoredSetReadParams
 *		The parameters that a text has: what is wrong with it, or NULL.
 *
 * There is room of STORED_SET_TYPE_NAME_SIZE for the name of the key type.
 */
const char *
StoredSetReadParams(const char *text, size_t len, StoredSetParams *params,
					char *type_name)
{
	const char *end = text + len;
	int64		format;
	int64		numbers[NPARAMETERS] = {0};
	bool		is_too_large;

	if (len == 0 || *text == '-' ||
		!ReadNumber(&text, end, &format, &is_too_large) ||
		(format == 0 && !is_too_large))
		return no_format;
	if (format > FORMAT || is_too_large)
		return newer;
	for (int i = 0; i < NPARAMETERS; i++)
	{
		const char *const *wrong = parameters[i].wrong;
		bool		is_type = i == NPARAMETERS - 1;

		if (text == end)
			return wrong[IS_MISSING];
		text++;
		if (!IsNamed(text, end, parameters[i].name))
			return WhatStandsThere(text, end, i);
		text += strlen(parameters[i].name) + 1;
		if (is_type && !ReadTypeName(&text, end, type_name))
			return wrong[IS_NO_KEY_TYPE];
		if (!is_type && !ReadNumber(&text, end, &numbers[i], &is_too_large))
			return wrong[IS_NO_NUMBER];
		if (!is_type && is_too_large)
			return wrong[IS_OUT_OF_RANGE];
	}
	if (text < end)
		return WhatStandsThere(text + 1, end, NPARAMETERS);

	params->keep = numbers[0];
	params->seed = numbers[1];
	params->kept_bits = (int32) numbers[2];
	if (params->keep != 0 && (params->keep < STORED_SET_SLICES ||
							  params->keep > STORED_SET_MAX_KEEP))
		return parameters[0].wrong[IS_OUT_OF_RANGE];
	if (numbers[2] < STORED_SET_MIN_BITS || numbers[2] > STORED_SET_ALL_BITS)
		return parameters[2].wrong[IS_OUT_OF_RANGE];
	return NULL;
}
