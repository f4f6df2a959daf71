/*
 * What docs/clients.md says of JDBC, tried on the database of the URL that is
 * the only argument.  Prints the Test Anything Protocol.
 *
 *     javac -d CLASSES $(find clients/java/src/main -name '*.java')
 *     java -cp CLASSES:/usr/share/java/postgresql.jar Drivers.java 'jdbc:postgresql://...'
 */
import bloomtype.BloomFilter;
import java.sql.*;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;

public class Drivers {
	static int number = 0, failures = 0;

	static void check(Object got, Object expected, String text) {
		boolean ok = expected.equals(got);

		System.out.println((ok ? "ok " : "not ok ") + ++number + " - " + text);
		if (!ok) {
			failures++;
			System.out.println("# got " + got + ", expected " + expected);
		}
	}

	static Object one(PreparedStatement statement) {
		try (ResultSet result = statement.executeQuery()) {
			result.next();
			return result.getObject(1);
		} catch (SQLException error) {
			return error.getSQLState();
		}
	}

	public static void main(String[] args) throws SQLException {
		try (Connection con = DriverManager.getConnection(args[0])) {
			PreparedStatement s = con.prepareStatement("SELECT urls @> ? FROM visited");
			s.setString(1, "https://example.org/1");
			check(one(s), true, "JDBC: text");
			s = con.prepareStatement("SELECT ids @> ? FROM visited");
			s.setLong(1, 42);
			check(one(s), true, "JDBC: bigint");
			s.setString(1, "42");
			check(one(s), "42804", "JDBC: a text is no bigint");
			s = con.prepareStatement("SELECT times @> ?::timestamptz FROM visited");
			s.setTimestamp(1, Timestamp.from(java.time.Instant.parse("2026-11-21T00:00:01Z")));
			check(one(s), true, "JDBC: timestamptz");
			s = con.prepareStatement("SELECT cardinality(bloom_missing(urls, ?)) FROM visited");
			s.setArray(1, con.createArrayOf("text", new String[] {"https://example.org/1", "x"}));
			check(one(s), 1, "JDBC: list");

			s = con.prepareStatement("INSERT INTO activity SELECT ?, ? WHERE bloom_set_add('received', ?)");
			s.setString(1, "JDBC");
			s.setString(2, "x");
			s.setString(3, "JDBC");
			check(s.executeUpdate() + " " + s.executeUpdate(), "1 0", "JDBC: stored if new");
			s = con.prepareStatement("SELECT bloom_set_add('received', ?)");
			s.setArray(1, con.createArrayOf("text", new String[] {"j1", "j2"}));
			check(one(s), "42804", "JDBC: a list given to bloom_set_add is an error");
			s = con.prepareStatement("SELECT cardinality(bloom_set_add_all('received', ?))");
			s.setArray(1, con.createArrayOf("text", new String[] {"j1", "j2"}));
			check(one(s), 2, "JDBC: a list given to bloom_set_add_all");

			ResultSet r = con.createStatement().executeQuery("SELECT urls::bytea, urls FROM visited");
			r.next();
			BloomFilter urls = BloomFilter.fromBytes(r.getBytes(1));
			check(BloomFilter.fromText(r.getString(2)), urls, "JDBC: a column of type bloom is text");
			check(urls.contains("https://example.org/1"), true, "clients/java: a key of the server");
			check(urls.contains("https://example.org/x"), false, "clients/java: another key");
			r = con.createStatement().executeQuery("SELECT bloom_add(bloom_empty(10), '\u00e9'::text)::bytea");
			r.next();
			check(BloomFilter.builder(10).add('\u00e9').build(), BloomFilter.fromBytes(r.getBytes(1)),
				"clients/java: a char is a text of one character");
			BloomFilter.Builder ids = BloomFilter.builder(1000);
			for (int id = 1; id <= 1000; id++)
				ids.add(id);
			s = con.prepareStatement("SELECT ?::bytea::bloom = ids FROM visited");
			s.setBytes(1, ids.build().toBytes());
			check(one(s), true, "clients/java: a filter is a parameter");

			r = con.createStatement().executeQuery(
				"SELECT bloom_add(f, t)::bytea, bloom_add(f, t::timestamp)::bytea, bloom_add(f, t::date)::bytea,"
				+ " t, t::timestamp, t::date FROM bloom_empty(1) AS f,"
				+ " unnest('{infinity, -infinity, 2026-11-21 01:02:03.456789+05}'::timestamptz[]) AS t");
			boolean found = true;
			while (r.next())
				found = found && BloomFilter.fromBytes(r.getBytes(1)).contains(r.getObject(4, OffsetDateTime.class))
					&& BloomFilter.fromBytes(r.getBytes(2)).contains(r.getObject(5, LocalDateTime.class))
					&& BloomFilter.fromBytes(r.getBytes(3)).contains(r.getObject(6, LocalDate.class));
			check(found, true, "clients/java: dates and times that JDBC returns, and infinity");
		}
		System.out.println("1.." + number);
		System.exit(failures > 0 ? 1 : 0);
	}
}
