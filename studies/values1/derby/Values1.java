import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;

/**
 * Executes a prepared {@code VALUES 1} over the network server of Apache Derby, one transaction
 * after the other by auto-commit, and prints how many a second were answered and how long one took.
 *
 * <p>Arguments: the port of the server, the seconds before the measured window, and its seconds.
 */
public final class Values1 {
    private static final long NANOS = 1_000_000_000L;

    private final PreparedStatement statement;

    private Values1(PreparedStatement statement) {
        this.statement = statement;
    }

    public static void main(String[] arguments) throws Exception {
        String url = "jdbc:derby://127.0.0.1:" + arguments[0] + "/values1;create=true";
        long warmup = Long.parseLong(arguments[1]) * NANOS;
        long window = Long.parseLong(arguments[2]) * NANOS;
        Class.forName("org.apache.derby.jdbc.ClientDriver");
        try (Connection connection = DriverManager.getConnection(url);
                PreparedStatement statement = connection.prepareStatement("VALUES 1")) {
            Values1 client = new Values1(statement);
            client.run(warmup);
            client.measure(window);
        }
    }

    /** Transactions for a time; how many there were. */
    private long run(long nanos) throws Exception {
        long end = System.nanoTime() + nanos;
        long done = 0;
        while (System.nanoTime() < end) {
            transaction();
            done++;
        }
        return done;
    }

    /** The window: the last transaction begins in it, and belongs to its time. */
    private void measure(long nanos) throws Exception {
        long begun = System.nanoTime();
        long done = run(nanos);
        double seconds = (System.nanoTime() - begun) / (double) NANOS;
        System.out.printf(java.util.Locale.ROOT, "throughput: %.3f per second%n", done / seconds);
        System.out.printf(java.util.Locale.ROOT, "response: %.3f us%n", 1e6 * seconds / done);
    }

    private void transaction() throws Exception {
        try (ResultSet rows = statement.executeQuery()) {
            if (!rows.next() || rows.getInt(1) != 1) {
                throw new IllegalStateException("VALUES 1 was not answered with 1");
            }
        }
    }
}
