/*-------------------------------------------------------------------------
 *
 * func/chunks.c
 *		A large filter in parts, and the filter of its parts.
 *
 * The limits on what moves between servers and programs are met long before
 * the largest filter is: two of them in one row pass the 1 GB that a row of
 * COPY may have, and a client takes several times a value's size to read it.
 * So bloom_chunks divides a filter's bytes, and bloom_from_chunks puts them
 * together again, in whatever order they come.
 *
 * A chunk
 * -------
 *
 *		offset	size
 *		0		8		"bloompt1"
 *		8		8		hash of the whole: XXH3_64bits, seed 0
 *		16		8		length of the whole
 *		24		8		offset of this chunk's bytes in the whole
 *		32				bytes
 *
 * with every number little-endian.  The whole is what leaves the server by
 * any other way (bits/layout.h).  Chunks are numbered from 0, and all but the
 * last are of one size; so a chunk's offset is its number times that size, and
 * the number that comes beside a chunk and the offset inside confirm each
 * other.
 *
 * Both directions need little more memory than the larger of a chunk and the
 * result.  A stored filter is read twice, in slices: once for the hash, then
 * for the chunks.
 *
 * The hash tells accidents, not forgery.  What comes out goes through the one
 * check of bytes from outside, like everything else.
 *
 * Copyright (c) 2026, the bloomtype authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "filter/fetch.h"
#include "filter/format.h"
#include "key/hash.h"

#define CHUNK_MAGIC			"bloompt1"
#define CHUNK_HEADER_SIZE	32

/*
 * The least size of a chunk.  It keeps the bytes of a first chunk above those
 * of a filter's header, and the number of chunks, of which we remember one bit
 * each, small beside the filter.
 */
#define MIN_CHUNK_SIZE		128
#define MIN_CHUNK_BYTES		(MIN_CHUNK_SIZE - CHUNK_HEADER_SIZE)

/* Bytes that are hashed between two looks for a cancel request */
#define HASH_PIECE			((Size) 4 * 1024 * 1024)

static inline uint64
LittleEndian64(uint64 value)
{
#ifdef WORDS_BIGENDIAN
	return pg_bswap64(value);
#else
	return value;
#endif
}

/* ----------------------------------------------------------------
 *							DIVIDING
 * ----------------------------------------------------------------
 */

/* A filter's bytes as they leave the server: at hand, or where it is stored */
typedef struct Source
{
	uint64		length;
	const uint8 *bytes;			/* NULL: read them from where it is stored */
} Source;

/* What bloom_chunks knows between two chunks */
typedef struct Division
{
	Source		source;
	uint64		hash;
	uint64		bytes_per_chunk;
} Division;

/*
 * Find out where a filter's bytes come from.
 */
static Source
OpenSource(Datum filter)
{
	Source		source;
	const Bloom *whole;

	source.bytes = NULL;
	source.length = BloomFetchSize(filter) - VARHDRSZ;
	if (BLOOM_STORED_AS_SENT && BloomIsSliceable(filter) &&
		BloomIsValue(BloomFetchHeader(filter)))
		return source;

	whole = BloomFetch(filter);
	source.length = BloomEncodedSize(whole);
	if (BLOOM_STORED_AS_SENT)
		source.bytes = (const uint8 *) VARDATA(whole);
	else
	{
		uint8	   *encoded = palloc(source.length);

		BloomEncode(whole, encoded);
		source.bytes = encoded;
	}
	return source;
}

/* Copy some of the bytes of a filter. */
static void
ReadSource(const Source *source, Datum filter, uint64 offset, Size len,
		   uint8 *out)
{
	if (source->bytes != NULL)
		memcpy(out, source->bytes + offset, len);
	else
		BloomFetchSlice(filter, VARHDRSZ + offset, len, out);
}

/* The hash of all bytes. */
static uint64
HashSource(const Source *source, Datum filter)
{
	XXH3_state_t hash;
	uint8	   *piece = NULL;

	if (source->bytes == NULL)
		piece = palloc(Min(source->length, HASH_PIECE));
	(void) XXH3_64bits_reset(&hash);
	for (uint64 offset = 0; offset < source->length; offset += HASH_PIECE)
	{
		Size		len = Min(source->length - offset, HASH_PIECE);

		CHECK_FOR_INTERRUPTS();
		if (piece != NULL)
			ReadSource(source, filter, offset, len, piece);
		(void) XXH3_64bits_update(&hash, piece != NULL ? piece :
								  source->bytes + offset, len);
	}
	if (piece != NULL)
		pfree(piece);
	return XXH3_64bits_digest(&hash);
}

/* The chunk that begins with the byte at an offset. */
static bytea *
MakeChunk(const Division *division, Datum filter, uint64 offset)
{
	Size		len = Min(division->source.length - offset,
						  division->bytes_per_chunk);
	bytea	   *chunk = palloc(VARHDRSZ + CHUNK_HEADER_SIZE + len);
	uint64		numbers[3];

	SET_VARSIZE(chunk, VARHDRSZ + CHUNK_HEADER_SIZE + len);
	numbers[0] = LittleEndian64(division->hash);
	numbers[1] = LittleEndian64(division->source.length);
	numbers[2] = LittleEndian64(offset);
	memcpy(VARDATA(chunk), CHUNK_MAGIC, 8);
	memcpy(VARDATA(chunk) + 8, numbers, sizeof(numbers));
	ReadSource(&division->source, filter, offset, len,
			   (uint8 *) VARDATA(chunk) + CHUNK_HEADER_SIZE);
	return chunk;
}

/*
 * bloom_chunks
 *		A filter as numbered chunks of at most so many bytes.
 */
PG_FUNCTION_INFO_V1(bloom_chunks);
Datum
bloom_chunks(PG_FUNCTION_ARGS)
{
	Datum		filter = PG_GETARG_DATUM(0);
	FuncCallContext *call;
	Division   *division;
	uint64		offset;
	Datum		values[2];
	bool		nulls[2] = {false};

	if (SRF_IS_FIRSTCALL())
	{
		int32		size = PG_GETARG_INT32(1);
		MemoryContext oldcontext;
		TupleDesc	tupdesc;

		if (size < MIN_CHUNK_SIZE)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("bytes %d is out of range", size),
					 errdetail("A chunk has at least %d bytes.",
							   MIN_CHUNK_SIZE)));
		call = SRF_FIRSTCALL_INIT();
		oldcontext = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "return type must be a row type");
		call->tuple_desc = BlessTupleDesc(tupdesc);
		division = palloc(sizeof(Division));
		division->source = OpenSource(filter);
		division->hash = HashSource(&division->source, filter);
		division->bytes_per_chunk = size - CHUNK_HEADER_SIZE;
		call->user_fctx = division;
		MemoryContextSwitchTo(oldcontext);
	}

	call = SRF_PERCALL_SETUP();
	division = call->user_fctx;
	offset = call->call_cntr * division->bytes_per_chunk;
	if (offset >= division->source.length)
		SRF_RETURN_DONE(call);
	values[0] = Int32GetDatum((int32) call->call_cntr);
	values[1] = PointerGetDatum(MakeChunk(division, filter, offset));
	SRF_RETURN_NEXT(call, HeapTupleGetDatum(heap_form_tuple(call->tuple_desc,
															values, nulls)));
}

/* ----------------------------------------------------------------
 *							PUTTING TOGETHER
 * ----------------------------------------------------------------
 */

/* What a chunk says, and where it belongs */
typedef struct Chunk
{
	uint64		hash;
	uint64		length;
	uint64		offset;
	uint64		bytes_per_chunk;
	const uint8 *bytes;
	Size		nbytes;
} Chunk;

/* A filter of which some chunks are there */
typedef struct Assembly
{
	Chunk		first;			/* the chunk that came first */
	uint64		nchunks;		/* of the whole */
	uint64		nreceived;
	Bloom	   *filter;			/* its bytes, as far as they are there */
	uint8		is_there[FLEXIBLE_ARRAY_MEMBER];	/* a bit for each chunk */
} Assembly;

/*
 * Read a chunk.  A sentence that says what is wrong with it, or NULL.
 */
static const char *
ReadChunk(int32 seq, const uint8 *bytes, Size size, Chunk *chunk)
{
	uint64		numbers[3];

	if (size <= CHUNK_HEADER_SIZE)
		return "There are fewer bytes than a chunk has.";
	if (memcmp(bytes, CHUNK_MAGIC, 8) != 0)
		return "It does not begin as chunks do.";
	memcpy(numbers, bytes + 8, sizeof(numbers));
	chunk->hash = LittleEndian64(numbers[0]);
	chunk->length = LittleEndian64(numbers[1]);
	chunk->offset = LittleEndian64(numbers[2]);
	chunk->bytes = bytes + CHUNK_HEADER_SIZE;
	chunk->nbytes = size - CHUNK_HEADER_SIZE;

	if (chunk->length < BLOOM_ENCODED_HEADER ||
		chunk->length > BLOOM_MAX_ENCODED_SIZE)
		return "No filter has the length that it says.";
	if (chunk->offset >= chunk->length ||
		chunk->nbytes > chunk->length - chunk->offset)
		return "It goes beyond the end of the filter.";

	/* the first has the size that all but the last have */
	if (chunk->offset == 0 ? seq != 0 :
		seq <= 0 || chunk->offset % (uint64) seq != 0)
		return "It is not the chunk of that number.";
	chunk->bytes_per_chunk = seq == 0 ? chunk->nbytes :
		chunk->offset / (uint64) seq;
	if (chunk->nbytes != Min(chunk->bytes_per_chunk,
							 chunk->length - chunk->offset) ||
		(chunk->nbytes != chunk->length &&
		 chunk->bytes_per_chunk < MIN_CHUNK_BYTES))
		return "Its size does not match its number.";
	return NULL;
}

/*
 * Make room for the filter that a chunk is of.
 *
 * That is as much as the chunk says, at most the size of the largest filter.
 * Memory that no chunk has been written to is not touched.
 */
static Assembly *
BeginAssembly(const Chunk *chunk, MemoryContext context)
{
	uint64		nchunks = (chunk->length + chunk->bytes_per_chunk - 1) /
		chunk->bytes_per_chunk;
	Assembly   *assembly;

	assembly = MemoryContextAllocZero(context, offsetof(Assembly, is_there) +
									  (nchunks + 7) / 8);
	assembly->first = *chunk;
	assembly->nchunks = nchunks;
	assembly->filter = BloomAllocate(context, VARHDRSZ + chunk->length);
	return assembly;
}

/*
 * Add a chunk to those that are there.
 */
static void
AddChunk(Assembly *assembly, int32 seq, const Chunk *chunk)
{
	const Chunk *first = &assembly->first;

	if (chunk->hash != first->hash || chunk->length != first->length)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("chunk %d belongs to another Bloom filter", seq),
				 errdetail("One filter has " UINT64_FORMAT " bytes and the hash %016llx, the other has " UINT64_FORMAT " bytes and the hash %016llx.",
						   first->length, (unsigned long long) first->hash,
						   chunk->length, (unsigned long long) chunk->hash),
				 errhint("Group the chunks by the filter that they belong to.")));
	if (chunk->bytes_per_chunk != first->bytes_per_chunk)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("chunk %d belongs to another division of the Bloom filter",
						seq),
				 errdetail("Its chunks have " UINT64_FORMAT " bytes of the filter each, the others' have " UINT64_FORMAT ".",
						   chunk->bytes_per_chunk, first->bytes_per_chunk),
				 errhint("Use the chunks of one call of bloom_chunks.")));
	if (assembly->is_there[seq / 8] & (1 << (seq % 8)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("chunk %d of a Bloom filter comes twice", seq)));

	assembly->is_there[seq / 8] |= 1 << (seq % 8);
	assembly->nreceived++;
	memcpy(VARDATA(assembly->filter) + chunk->offset, chunk->bytes,
		   chunk->nbytes);
}

/*
 * _bloom_from_chunks_trans
 *		Add a chunk, unless it is null.
 */
PG_FUNCTION_INFO_V1(_bloom_from_chunks_trans);
Datum
_bloom_from_chunks_trans(PG_FUNCTION_ARGS)
{
	Assembly   *assembly = PG_ARGISNULL(0) ? NULL :
		(Assembly *) PG_GETARG_POINTER(0);
	MemoryContext context;
	bytea	   *bytes;
	Chunk		chunk;
	int32		seq;
	const char *wrong;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "_bloom_from_chunks_trans is called outside of an aggregate");

	/* not STRICT; a null chunk is none */
	if (PG_ARGISNULL(2))
	{
		if (assembly == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(assembly);
	}
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("seq must not be null")));

	seq = PG_GETARG_INT32(1);
	bytes = PG_GETARG_BYTEA_PP(2);
	wrong = ReadChunk(seq, (uint8 *) VARDATA_ANY(bytes),
					  VARSIZE_ANY_EXHDR(bytes), &chunk);
	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid chunk %d of a Bloom filter", seq),
				 errdetail("%s", wrong),
				 errhint("Chunks are what bloom_chunks returns, unchanged, each with its number.")));
	if (assembly == NULL)
		assembly = BeginAssembly(&chunk, context);
	AddChunk(assembly, seq, &chunk);
	PG_FREE_IF_COPY(bytes, 2);
	PG_RETURN_POINTER(assembly);
}

/* An error, unless all chunks are there. */
static void
CheckComplete(const Assembly *assembly)
{
	uint64		missing = 0;

	if (assembly->nreceived == assembly->nchunks)
		return;
	while (assembly->is_there[missing / 8] & (1 << (missing % 8)))
		missing++;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("chunk " UINT64_FORMAT " of a Bloom filter is missing",
					missing),
			 errdetail("There are " UINT64_FORMAT " of its " UINT64_FORMAT " chunks.",
					   assembly->nreceived, assembly->nchunks)));
}

/*
 * _bloom_from_chunks_final
 *		The filter, if all of its chunks are there; null, if there was none.
 *
 * It is made of the state, which is used up.
 */
PG_FUNCTION_INFO_V1(_bloom_from_chunks_final);
Datum
_bloom_from_chunks_final(PG_FUNCTION_ARGS)
{
	Assembly   *assembly;
	Source		source;
	const char *wrong;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	assembly = (Assembly *) PG_GETARG_POINTER(0);
	CheckComplete(assembly);

	source.length = assembly->first.length;
	source.bytes = (const uint8 *) VARDATA(assembly->filter);
	if (HashSource(&source, (Datum) 0) != assembly->first.hash)
		wrong = "The chunks were changed: their bytes do not have the hash that they say.";
	else
		wrong = BloomDecodeInPlace(assembly->filter, source.length,
								   BLOOM_PLAIN);
	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid chunks of a Bloom filter"),
				 errdetail("%s", wrong),
				 errhint("Chunks are what bloom_chunks returns, unchanged, each with its number.")));
	PG_RETURN_BLOOM_P(assembly->filter);
}
