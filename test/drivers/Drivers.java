/*
 * What docs/clients.md says of JDBC, tried on the database of the URL that is
 * the only argument.  Prints the Test Anything Protocol.
 *
 *     java -cp /usr/share/java/postgresql.jar Drivers.java 'jdbc:postgresql://...'
 */
import java.sql.*;

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
		}
		System.out.println("1.." + number);
		System.exit(failures > 0 ? 1 : 0);
	}
}
