#
# The extension's operators change what no other expression means.
#
# An expression of one of our operators' names over PostgreSQL's own types must
# have the same type, or fail with the same error, whether the extension is
# there or not: for every pair of types, and for every type beside a literal
# without a type and beside null.
#
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('operators');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE without');
$node->safe_psql('postgres', 'CREATE DATABASE with_extension');
$node->safe_psql('with_extension', 'CREATE EXTENSION bloomtype');

# outcomes DATABASE, OPERATOR: a line for each expression, with its type or error.
sub outcomes
{
	my ($database, $operator) = @_;
	return split /\n/, $node->safe_psql($database, <<"SQL");
SET client_min_messages = error;
CREATE FUNCTION pg_temp.outcome(expression text) RETURNS text
LANGUAGE plpgsql AS \$\$
DECLARE
	type text;
BEGIN
	EXECUTE 'SELECT pg_typeof(' || expression || ')' INTO type;
	RETURN type;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END
\$\$;
WITH typed AS (
	SELECT format('NULL::%s', format_type(oid, NULL)) AS operand
	FROM pg_type
	WHERE typtype IN ('b', 'r', 'm') AND typnamespace = 'pg_catalog'::regnamespace
	  AND oid < 10000 AND typname !~ '^pg_'
	  AND (typname !~ '^_' OR typname IN ('_int4', '_numeric', '_text'))
), untyped AS (
	SELECT * FROM (VALUES ('NULL'), ('''x''')) AS v (operand)
), pair AS (
	SELECT l.operand AS l, r.operand AS r FROM typed AS l, typed AS r
	UNION ALL
	SELECT l.operand, r.operand FROM typed AS l, untyped AS r
	UNION ALL
	SELECT l.operand, r.operand FROM untyped AS l, typed AS r
	UNION ALL
	SELECT l.operand, r.operand FROM untyped AS l, untyped AS r
)
SELECT e, pg_temp.outcome(e)
FROM (SELECT format('%s $operator %s', l, r) AS e FROM pair) AS s
ORDER BY e COLLATE "C";
SQL
}

# the names of our operators, as the catalog has them
my @operators = split /\n/, $node->safe_psql('with_extension', <<'SQL');
SELECT DISTINCT oprname
FROM pg_operator AS o JOIN pg_depend AS d ON d.objid = o.oid
WHERE d.classid = 'pg_operator'::regclass AND d.deptype = 'e'
  AND d.refclassid = 'pg_extension'::regclass
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomtype')
ORDER BY oprname
SQL
ok(@operators > 0, 'the extension has operators');

foreach my $operator (@operators)
{
	my @without = outcomes('without', $operator);
	my @with = outcomes('with_extension', $operator);
	my @changed = grep { $without[$_] ne ($with[$_] // '') } 0 .. $#without;

	cmp_ok(scalar @without, '>', 4000, "$operator: expressions tried");
	is(scalar @with, scalar @without, "$operator: the same ones with the extension");
	is(scalar @changed, 0, "$operator: no expression changes its meaning")
	  or diag("without: $without[$changed[0]]\nwith:    $with[$changed[0]]");
}

$node->stop;
done_testing();
