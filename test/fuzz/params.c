/*-------------------------------------------------------------------------
 *
 * params.c
 *		Fuzz the parser of a set's parameters.
 *
 * The input is a text.  Of one that is accepted, this must hold: the parameters
 * are what a set can have, and written again, they are the same text.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "set/params.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* copies of just their size, so that a step too far is noticed */
	char	   *text = malloc(size);
	char	   *type_name = malloc(STORED_SET_TYPE_NAME_SIZE);
	char	   *again = malloc(STORED_SET_PARAMS_SIZE);
	StoredSetParams params;
	const char *wrong;

	memcpy(text, data, size);
	wrong = StoredSetReadParams(text, size, &params, type_name);
	if (wrong == NULL)
	{
		must(params.keep == 0 || (params.keep >= STORED_SET_SLICES && params.keep <= STORED_SET_MAX_KEEP));
		must(params.kept_bits >= STORED_SET_MIN_BITS && params.kept_bits <= STORED_SET_ALL_BITS);
		must(BloomCheckTypeName(type_name, strlen(type_name)) == NULL);
		StoredSetWriteParams(&params, type_name, again);
		must(strlen(again) == size && memcmp(again, text, size) == 0);
	}
	else
		must(strlen(wrong) > 0 && wrong[strlen(wrong) - 1] == '.');
	free(text);
	free(type_name);
	free(again);
	return 0;
}
