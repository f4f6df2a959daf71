#
# The SQL examples of the documentation print what the documentation says, and
# it names every SQL object.  scripts/doc-examples has the rules for examples.
#
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require './scripts/doc-examples';

my $node = PostgreSQL::Test::Cluster->new('docs');
$node->init;
$node->start;

my $text = '';

foreach my $file ('README.md', sort glob 'docs/*.md')
{
	my $doc = read_examples($file);
	(my $database = lc $file) =~ s/\W/_/g;

	$text .= join '', @{ $doc->{lines} };
	note "$file: $doc->{skipped} blocks are shown only" if $doc->{skipped};
	next unless @{ $doc->{examples} };
	run_examples(
		$doc,
		sub {
			my ($script) = @_;
			my $printed;

			$node->safe_psql('postgres', "CREATE DATABASE $database");
			IPC::Run::run(
				[
					'psql', '-Xq', '-v', 'host=' . $node->host,
					'-v', 'port=' . $node->port, '-d',
					$node->connstr($database)
				],
				'<', \$script, '>&', \$printed);
			return $printed;
		});
	foreach my $example (@{ $doc->{examples} })
	{
		ok(is_right($example), title($doc, $example))
		  or diag("printed:\n$example->{printed}");
	}
}

# "name_..." with the character for three dots stands for all that begin so
$node->safe_psql('postgres', 'CREATE EXTENSION bloomtype');
foreach my $name (split /\n/, $node->safe_psql('postgres', <<'SQL'))
SELECT DISTINCT coalesce(proname, oprname, typname, opcname)
FROM pg_depend AS d
LEFT JOIN pg_proc AS p ON p.oid = objid AND classid = 'pg_proc'::regclass
LEFT JOIN pg_operator AS o ON o.oid = objid AND classid = 'pg_operator'::regclass
LEFT JOIN pg_type AS t ON t.oid = objid AND classid = 'pg_type'::regclass AND typelem = 0
LEFT JOIN pg_opclass AS c ON c.oid = objid AND classid = 'pg_opclass'::regclass
WHERE refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomtype')
  AND coalesce(proname, oprname, typname, opcname) IS NOT NULL
ORDER BY 1
SQL
{
	my $pattern = join '|', map { quotemeta(substr $name, 0, $_) . "\xe2\x80\xa6" }
	  1 .. length($name) - 1;
	ok( $text =~ /(?<!\w)(?:\Q$name\E(?!\w)|$pattern)/, "$name is documented");
}

$node->stop;
done_testing();
