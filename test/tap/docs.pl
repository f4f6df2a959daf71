#
# The SQL examples of the documentation print what the documentation says.  It
# names every SQL object that people use, and the reference has an entry for each function,
# operator and cast that users call; errors, costs and an example for each kind of
# them.  scripts/doc-examples has the rules for examples.
#
use strict;
use warnings;

use File::Temp;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require './scripts/doc-examples';

my $node = PostgreSQL::Test::Cluster->new('docs');
$node->init;
$node->start;

# a function for run_examples
sub psql_of_node
{
	my ($script) = @_;
	my $printed;

	$node->safe_psql('postgres', 'CREATE DATABASE doc_examples');
	IPC::Run::run(
		[ 'psql', '-Xq', '-d', $node->connstr('doc_examples') ],
		'<', \$script, '>&', \$printed);
	$node->safe_psql('postgres', 'DROP DATABASE doc_examples WITH (FORCE)');
	return $printed;
}

# Where each recipe runs alone, one that needs another's table and does not say so
# is wrong.
{
	my $page = File::Temp->new;
	print $page <<'MARKDOWN';
Each recipe runs alone.
```sql
CREATE TABLE common AS SELECT 1 AS n;
```
## A table
```sql
CREATE TABLE t AS SELECT n + 1 AS n FROM common;
```
## It says so
Goes on with [A table](#a-table).
```sql
UPDATE t SET n = n + 1 RETURNING n;
```
```text
 n
---
 3
```
## It does not say so
```sql
SELECT n FROM t;
```
## The other has changed nothing
Goes on with [It says so](#it-says-so).
```sql
SELECT n FROM t;
```
```text
 n
---
 3
```
MARKDOWN
	close $page;
	my $doc = read_examples("$page");

	run_examples($doc, \&psql_of_node);
	is( join(' ', map { is_right($_) ? 'right' : 'wrong' } @{ $doc->{examples} }),
		'right right right wrong right',
		'sections that run alone');
}

my $text = '';

foreach my $file ('README.md', sort glob 'docs/*.md')
{
	my $doc = read_examples($file);

	$text .= join '', @{ $doc->{lines} };
	note "$file: $doc->{skipped} blocks are shown only" if $doc->{skipped};
	run_examples($doc, \&psql_of_node);
	foreach my $example (@{ $doc->{examples} })
	{
		ok(is_right($example), title($doc, $example))
		  or diag("printed:\n$example->{printed}");
	}
}

# Words of the sources that a user does not meet; a column of a set may be named.
{
	(my $prose = $text) =~ s/^```.*?^```|`[^`\n]*`//gms;
	my %private = map { lc $_ => 1 } $prose =~ /\b(lanes?|stripes?|slices?|regions?|settled)\b/gi;
	is("@{[ sort keys %private ]}", '', 'no private word on a page for users');
}

# "name_..." with the character for three dots stands for all that begin so
$node->safe_psql('postgres', 'CREATE EXTENSION bloomtype_unique CASCADE');
foreach my $name (split /\n/, $node->safe_psql('postgres', <<'SQL'))
SELECT DISTINCT coalesce(proname, oprname, typname, opcname)
FROM pg_depend AS d
LEFT JOIN pg_proc AS p ON p.oid = objid AND classid = 'pg_proc'::regclass
LEFT JOIN pg_operator AS o ON o.oid = objid AND classid = 'pg_operator'::regclass
LEFT JOIN pg_type AS t ON t.oid = objid AND classid = 'pg_type'::regclass AND typelem = 0
LEFT JOIN pg_opclass AS c ON c.oid = objid AND classid = 'pg_opclass'::regclass
WHERE refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('bloomtype', 'bloomtype_set', 'bloomtype_unique'))
  AND coalesce(proname, oprname, typname, opcname) !~ '^_'
ORDER BY 1
SQL
{
	my $pattern = join '|', map { quotemeta(substr $name, 0, $_) . "\xe2\x80\xa6" }
	  1 .. length($name) - 1;
	ok( $text =~ /(?<!\w)(?:\Q$name\E(?!\w)|$pattern)/, "$name is documented");
}

# The reference: an entry is a section that begins with signatures.
my $reference = slurp_file('docs/reference.md');
my (@entries, @signatures);
{
	my %ends = map { $_->{line} => $_ } @{ read_examples('docs/reference.md')->{examples} };
	my $line = 1;

	foreach my $section (split /^(?=##)/m, $reference)
	{
		my ($title, $block) = $section =~ /^#+ (.*)\n\n((?:    \S.*\n(?:     +\S.*\n)*)+)/;

		if (defined $title)
		{
			# outside of blocks of code
			(my $prose = $section) =~ s/^```.*?^```//gms;
			my ($cost) = $prose =~ /^\*([^*].*)\*$/m;
			my @examples =
			  grep { $_ > $line && $_ < $line + ($section =~ tr/\n//) } keys %ends;
			my @these = map { s/\n +/ /gr } $block =~ /^    (\S.*\n(?:     +.*\n)*)/mg;

			chomp @these;
			push @signatures, @these;
			push @entries, { title => $title, prose => $prose, signatures => \@these };
			like($cost, qr/time|index|reads/i, "$title: costs time");
			like($cost, qr/memory/i, "$title: costs memory");
			like($prose, qr/^(Errors: |Errors besides|No errors\.)/m, "$title: errors");
			ok((grep { defined $ends{$_}{result} } @examples), "$title: an example with its result");
		}
		$line += ($section =~ tr/\n//);
	}
}

# The same as the catalog says, in the order of the script.  An aggregate for
# one type of key is left out where there is one for anyelement.
my @catalog = split /\n/, $node->safe_psql('postgres', <<'SQL');
WITH ours AS
	(SELECT classid, objid FROM pg_depend
	 WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
	   AND refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('bloomtype', 'bloomtype_set', 'bloomtype_unique')))
SELECT objid, proname || '(' ||
	   (SELECT coalesce(string_agg(concat_ws(' ', nullif(proargnames[i], ''),
											 format_type(type, NULL),
											 '= ' || pg_get_function_arg_default(p.oid, i::int)),
								   ', ' ORDER BY i), '')
		FROM unnest(proargtypes::oid[]) WITH ORDINALITY AS a (type, i)) || ') → ' ||
	   CASE WHEN proretset THEN 'setof ' ELSE '' END ||
	   coalesce('(' || (SELECT string_agg(proargnames[i] || ' ' || format_type(proallargtypes[i], NULL),
										  ', ' ORDER BY i)
						FROM unnest(proargmodes) WITH ORDINALITY AS a (mode, i)
						WHERE mode = 'o') || ')',
				format_type(prorettype, NULL))
FROM ours JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
WHERE proname NOT LIKE '\_%'
  AND NOT EXISTS (SELECT FROM pg_proc AS any_type
				  WHERE any_type.proname = p.proname AND p.prokind = 'a' AND any_type.oid <> p.oid
					AND any_type.pronargs = p.pronargs
					AND any_type.proargtypes[0] = 'anyelement'::regtype
					AND (p.pronargs < 2 OR any_type.proargtypes[1] = p.proargtypes[1]))
UNION ALL
SELECT 0, concat_ws(' ', format_type(oprleft, NULL), oprname, format_type(oprright, NULL)) ||
	   ' → ' || format_type(oprresult, NULL)
FROM ours JOIN pg_operator AS o ON classid = 'pg_operator'::regclass AND o.oid = objid
UNION ALL
SELECT 0, format_type(castsource, NULL) || '::' || format_type(casttarget, NULL) ||
	   CASE castsource WHEN casttarget THEN '(capacity, fp_prob)' ELSE '' END || ' → ' || format_type(casttarget, NULL)
FROM ours JOIN pg_cast AS c ON classid = 'pg_cast'::regclass AND c.oid = objid
SQL

# one spelling for both
sub normal_signature
{
	my ($signature) = @_;
	$signature =~ s/\bint\b/integer/g;
	$signature =~ s/\bfloat8\b/double precision/g;
	$signature =~ s/\btimestamptz\b/timestamp with time zone/g;
	$signature =~ s/(= \S+?)::[\w ]+/$1/g;
	return $signature;
}

is( join("\n", sort map { normal_signature($_) } @signatures),
	join("\n", sort map { normal_signature(s/^\d+\|//r) } @catalog),
	'the entries are the functions, operators and casts that there are');

# since which release: all that is not in an extension's first script says it
my (%later, %group, @groups);
my $changelog = slurp_file('CHANGELOG.md');

foreach my $script (sort glob 'bloomtype--*.sql set/bloomtype_{set,unique}--*.sql')
{
	my $updates = $script =~ /--.*--/;
	my $group;

	foreach my $line (split /\n/, slurp_file($script))
	{
		$group = $1 if $line =~ /^--\t+([A-Z ]+)$/;
		next unless $line =~ /^CREATE (?:FUNCTION|AGGREGATE|PROCEDURE) ([a-z]\w*)\((?:OUT\b)?(\w*)/;
		$later{$1} = 1 if $updates;
		$group{"$1($2"} //= $group;
		push @groups, $group unless grep { $_ eq $group } @groups;
	}
}

my @documented;
foreach my $entry (@entries)
{
	foreach my $function (map { /^(\w+\(\w*)/ } @{ $entry->{signatures} })
	{
		my ($name) = $function =~ /^(\w+)/;
		my $group = $group{$function} // '';

		ok(!$later{$name} || $entry->{prose} =~ /`$name`.*Since (\d+\.\d+\.\d+)\b/ && $changelog =~ /^## \Q$1\E /m,
			"$name: since which release, if not since the first");
		push @documented, $group unless @documented && $documented[-1] eq $group;
	}
}
is("@documented", "@groups", 'the reference is grouped as the scripts are');

$node->stop;
done_testing();
