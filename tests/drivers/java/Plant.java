// Has drivers written in Java be sent errors: see README.md in the folder above.

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

public final class Plant {
    /** A line of the plan. */
    private static final class Planned {
        final String code;
        final String before;
        final String statement;

        Planned(String[] columns) {
            code = columns[2];
            before = columns[3];
            statement = columns[4];
        }
    }

    private final boolean isPostgres;
    private final boolean isBinary;
    private final String url;
    private final String user;

    private Plant(URI address, boolean isBinary) {
        isPostgres = address.getScheme().equals("postgres");
        this.isBinary = isBinary;
        user = address.getUserInfo();
        boolean isEncrypted = address.getQuery().equals("tls=yes");
        String place = address.getHost() + ":" + address.getPort() + address.getPath();
        url = isPostgres ? ofPgjdbc(place, isEncrypted) : ofConnector(place, isEncrypted);
    }

    private String ofPgjdbc(String place, boolean isEncrypted) {
        return "jdbc:postgresql://" + place + "?sslmode=" + (isEncrypted ? "require" : "disable")
            + "&gssEncMode=disable&prepareThreshold=1&preferQueryMode="
            + (isBinary ? "extended" : "simple");
    }

    /** Where the server cannot prepare a statement, that is an error, and it is not sent as text. */
    private String ofConnector(String place, boolean isEncrypted) {
        return "jdbc:mysql://" + place + "?sslMode=" + (isEncrypted ? "REQUIRED" : "DISABLED")
            + "&allowPublicKeyRetrieval=true&emulateUnsupportedPstmts=false&useServerPrepStmts="
            + isBinary;
    }

    public static void main(String[] words) {
        try {
            URI address = URI.create(words[2]);
            Map<String, Planned> plan = planOf(Path.of(words[1]), address.getScheme());
            Plant plant = new Plant(address, words[3].equals("binary"));
            for (int at = 4; at < words.length; at += 2) {
                plant.plant(plan.get(words[at]), Integer.parseInt(words[at + 1]));
            }
        } catch (Exception error) {
            System.err.println("plant: " + error);
            System.exit(1);
        }
    }

    private static Map<String, Planned> planOf(Path file, String product) throws Exception {
        Map<String, Planned> plan = new HashMap<>();
        for (String line : Files.readAllLines(file)) {
            String[] columns = line.split("\t");
            if (!line.startsWith("#") && columns.length == 5
                && Arrays.asList(columns[1].split(",")).contains(product)) {
                plan.put(columns[0], new Planned(columns));
            }
        }
        return plan;
    }

    private void plant(Planned line, int count) throws SQLException {
        try (Connection connection =
                DriverManager.getConnection(url, user, System.getenv("DRIVER_PASSWORD"))) {
            if (!line.before.equals("-")) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute(line.before);
                }
            }
            for (; count > 0; count--) {
                String code = codeOf(connection, line.statement);
                if (!code.equals(line.code)) {
                    throw new IllegalStateException("'" + line.statement + "' is answered with "
                        + code + ", not with " + line.code);
                }
            }
        }
    }

    /** What the server calls the error that it answers a statement with. */
    private String codeOf(Connection connection, String sql) {
        try {
            execute(connection, sql);
            return "no error";
        } catch (SQLException error) {
            return isPostgres ? error.getSQLState() : String.valueOf(error.getErrorCode());
        }
    }

    /** Executes a statement and takes all of its rows. */
    private void execute(Connection connection, String sql) throws SQLException {
        if (isBinary) {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                take(statement, statement.execute());
            }
        } else {
            try (Statement statement = connection.createStatement()) {
                take(statement, statement.execute(sql));
            }
        }
    }

    private static void take(Statement statement, boolean hasRows) throws SQLException {
        if (hasRows) {
            try (ResultSet rows = statement.getResultSet()) {
                while (rows.next()) {
                    rows.getObject(1);
                }
            }
        }
    }
}
