// The MongoDB stand-in of the local mesh: a MongoDB wire server over one H2 MVStore file, for a
// machine without mongod on the PATH. Run it without a build:
// java -cp 'lib/*' MongoServer.java PORT FILE [HOST]. Not for production.
//
// It promises:
// - an acknowledged write survives kill -9: it is committed to the file before it is answered, and
//   a commit never holds half a write (an index entry without its document);
// - a value that a unique index holds is refused;
// - a query returns the same documents with an index as without one;
// - compaction runs in short steps, so that a growing file does not stop writes for long.
//
// It does not promise:
// - durability after a power failure: the file is not fsynced for each commit;
// - transactions, change streams, pipeline updates, partial indexes, or sorting by an index;
// - replica sets, users and access rights, or TLS;
// - the speed of MongoDB: benchmarks on it are compared only with each other.

import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.AbstractUniqueIndex;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.DocumentWithPosition;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.Utils;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.h2.H2Collection;
import de.bwaldvogel.mongo.backend.h2.H2Database;
import de.bwaldvogel.mongo.bson.BinData;
import de.bwaldvogel.mongo.bson.BsonRegularExpression;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.bson.ObjectId;
import de.bwaldvogel.mongo.wire.bson.BsonDecoder;
import de.bwaldvogel.mongo.wire.bson.BsonEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.h2.mvstore.Cursor;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.WriteBuffer;
import org.h2.mvstore.type.BasicDataType;
import org.h2.mvstore.type.ByteArrayDataType;

public class MongoServer {
    /**
     * More threads than cores: a write occupies its thread until its commit, and waiting threads
     * share one commit.
     */
    static final int WORKER_THREADS = 16;

    /**
     * Compaction blocks writes. So it runs while the server is idle, and for a file above
     * FILE_BYTES_MAX under load too, in steps that take STEP_MS: a step rewrites fewer bytes than
     * the last one if that took longer, more if it took less, and the least after one with nothing
     * to do. The pause between two steps is PAUSE_TIMES as long as the last one: they take a tenth
     * of the time.
     */
    static final int COMPACT_EVERY_MS = 250;
    static final int IDLE_MS = 250;
    static final int COMPACT_BELOW_PERCENT = 60;
    static final int STEP_BYTES_MIN = 32 * 1024;
    static final int STEP_BYTES_MAX = 1024 * 1024;
    static final int STEP_MS = 20;
    static final long FILE_BYTES_MAX = 4L * 1024 * 1024 * 1024;
    static final int PAUSE_TIMES = 9;

    /**
     * How long chunks without live data are kept for readers that still use them. Every commit
     * makes a chunk.
     */
    static final int RETENTION_MS = 5_000;

    public static void main(String[] args) {
        int port = Integer.parseInt(args[0]);
        // An automatic commit could save half a write (an index entry without its document). So the
        // background writer is disabled, and with a buffer size of 0 a full buffer does not commit.
        MVStore store = new MVStore.Builder()
            .fileName(args[1])
            .autoCommitDisabled()
            .autoCommitBufferSize(0)
            .open();
        store.setRetentionTime(RETENTION_MS);
        Bson.convert(store);

        DurableBackend backend = new DurableBackend(store);
        backend.version(new Version());
        var server = new de.bwaldvogel.mongo.MongoServer(backend);
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        Executors.newSingleThreadScheduledExecutor(MongoServer::daemon)
            .scheduleWithFixedDelay(
                backend::compact, COMPACT_EVERY_MS, COMPACT_EVERY_MS, TimeUnit.MILLISECONDS);
        String host = args.length > 2 ? args[2] : "127.0.0.1";
        server.bind(new InetSocketAddress(host, port), 1, WORKER_THREADS);
        System.out.println("mongo stand-in listens on " + host + ":" + port + ", data in " + args[1]);
    }

    static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "compaction");
        thread.setDaemon(true);
        return thread;
    }

    /** The driver refuses servers below wire version 9, the version of MongoDB 4.4. */
    static final class Version implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(4, 4, 0);
        }

        @Override
        public int getWireVersion() {
            return 9;
        }
    }

    /** The filter of this thread's aggregation, until its collection is read. */
    private static final ThreadLocal<Document> SELECTED = new ThreadLocal<>();

    /**
     * Makes writes durable. Writes run concurrently; a commit runs while no write does, so that it
     * never saves half a write, and it saves all writes that have ended.
     */
    static final class DurableBackend extends H2Backend {
        private static final Set<String> WRITES = Set.of(
            "insert", "update", "delete", "findandmodify", "create", "createindexes", "drop",
            "dropindexes", "deleteindexes", "dropdatabase", "renamecollection");

        private final MVStore store;
        private final ReadWriteLock gate = new ReentrantReadWriteLock();
        private final AtomicLong ended = new AtomicLong();
        private final Object turn = new Object();
        private long saved;
        private volatile long wroteAt = System.nanoTime();
        /** Only the compaction's thread uses these. */
        private long pauseUntil = System.nanoTime();
        private int stepBytes = STEP_BYTES_MIN;

        DurableBackend(MVStore store) {
            super(store);
            this.store = store;
        }

        @Override
        public Document handleCommand(
            Channel channel, String database, String command, Document query) {
            if (!writes(command, query)) {
                return handle(channel, database, command, query);
            }
            gate.readLock().lock();
            try {
                return handle(channel, database, command, query);
            } finally {
                long mine = ended.incrementAndGet();
                gate.readLock().unlock();
                save(mine);
            }
        }

        /** The library reads a whole collection for each aggregation, whatever it selects. */
        private Document handle(Channel channel, String database, String command, Document query) {
            if (command.equalsIgnoreCase("listDatabases")) return listDatabases();
            if (command.equalsIgnoreCase("aggregate")) SELECTED.set(firstMatch(query));
            Shapes.record(database, command, query);
            try {
                return super.handleCommand(channel, database, command, query);
            } finally {
                SELECTED.remove();
            }
        }

        /**
         * The library opens every database for it, and reads all of its documents for the indexes.
         */
        private Document listDatabases() {
            List<Document> databases = new ArrayList<>();
            for (String name : new TreeSet<>(listDatabaseNames())) {
                databases.add(new Document("name", name).append("empty", false));
            }
            return new Document("databases", databases).append("ok", 1.0);
        }

        /** The filter of the first stage; null if it is no $match, or uses expressions. */
        private static Document firstMatch(Document query) {
            if (!(query.get("pipeline") instanceof List<?> stages) || stages.isEmpty()) return null;
            if (!(stages.get(0) instanceof Document stage)) return null;
            if (!(stage.get("$match") instanceof Document match)) return null;
            return match.containsKey("$expr") ? null : match;
        }

        @Override
        protected MongoDatabase openOrCreateDatabase(String name) {
            return new Database(name);
        }

        /** An inner class, since the library's constructor opens the collections of a database. */
        private final class Database extends H2Database {
            Database(String name) {
                super(name, getMvStore(), DurableBackend.this.getCursorRegistry());
            }

            @Override
            protected MongoCollection<Object> openOrCreateCollection(
                String name, CollectionOptions options) {
                String fullName = getDatabaseName() + "." + name;
                return new IndexedCollection(
                    this,
                    name,
                    options,
                    getMvStore().openMap(Bson.DOCUMENTS + fullName, Bson.map(new Bson())),
                    getMvStore().openMap("meta." + fullName),
                    cursorRegistry);
            }

            @Override
            protected Index<Object> openOrCreateUniqueIndex(
                String collection, String name, List<IndexKey> keys, boolean sparse) {
                String map = getDatabaseName() + "." + collection + Bson.INDEX + name;
                return new UniqueIndex(
                    getMvStore().openMap(map, Bson.map(new Key())),
                    name, keys, sparse);
            }

            @Override
            protected Index<Object> openOrCreateSecondaryIndex(
                String collection, String name, List<IndexKey> keys, boolean sparse) {
                return new SecondaryIndex(name, keys);
            }
        }

        private static boolean writes(String command, Document query) {
            String name = command.toLowerCase(Locale.ROOT);
            if (name.equals("aggregate")) {
                String pipeline = String.valueOf(query.get("pipeline"));
                return pipeline.contains("$out") || pipeline.contains("$merge");
            }
            return WRITES.contains(name);
        }

        /** Group commit: a waiting thread usually finds its write saved by the previous commit. */
        private void save(long mine) {
            synchronized (turn) {
                if (saved >= mine) return;
                gate.writeLock().lock();
                try {
                    long all = ended.get();
                    store.commit();
                    saved = all;
                    wroteAt = System.nanoTime();
                } finally {
                    gate.writeLock().unlock();
                }
            }
        }

        void compact() {
            boolean idle = System.nanoTime() - wroteAt > TimeUnit.MILLISECONDS.toNanos(IDLE_MS);
            if (System.nanoTime() < pauseUntil) return;
            if (!idle && store.getFileStore().size() < FILE_BYTES_MAX) return;
            gate.writeLock().lock();
            long started = System.nanoTime();
            boolean compacted = false;
            try {
                if (store.isClosed()) return;
                compacted = store.compact(COMPACT_BELOW_PERCENT, stepBytes);
                if (compacted) store.commit();
            } catch (RuntimeException e) {
                System.err.println("failed to compact the store, will retry: " + e);
            } finally {
                gate.writeLock().unlock();
                long took = System.nanoTime() - started;
                pauseUntil = started + (1 + PAUSE_TIMES) * took;
                boolean late = took > TimeUnit.MILLISECONDS.toNanos(STEP_MS);
                int next = !compacted ? 0 : late ? stepBytes / 2 : stepBytes * 2;
                stepBytes = Math.max(STEP_BYTES_MIN, Math.min(next, STEP_BYTES_MAX));
            }
        }
    }

    /**
     * Writes the shape of each distinct query to the file that BMG_QUERIES names, a JSON object a
     * line: the fields and operators without their values. Tests compare them with the indexes.
     */
    static final class Shapes {
        private static final String FILE = System.getenv("BMG_QUERIES");
        private static final int SHAPES_MAX = 20_000;
        private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();

        static void record(String database, String command, Document query) {
            if (FILE == null) return;
            switch (command.toLowerCase(Locale.ROOT)) {
                case "find" -> write(database, query.get("find"), query, query.get("filter"));
                case "distinct" -> write(database, query.get("distinct"), query, query.get("query"));
                case "findandmodify" ->
                    write(database, query.get("findAndModify"), query, query.get("query"));
                case "update" -> each(database, query.get("update"), query.get("updates"));
                case "delete" -> each(database, query.get("delete"), query.get("deletes"));
                case "aggregate" -> write(
                    database,
                    query.get("aggregate"),
                    query,
                    query.get("pipeline") instanceof List<?> stages && !stages.isEmpty()
                        && stages.get(0) instanceof Document first ? first.get("$match") : null);
                default -> { }
            }
        }

        private static void each(String database, Object collection, Object operations) {
            if (!(operations instanceof List<?> all)) return;
            for (Object one : all) {
                if (one instanceof Document operation) {
                    write(database, collection, operation, operation.get("q"));
                }
            }
        }

        private static void write(String database, Object collection, Document query, Object filter) {
            String shape = "{\"database\":" + text(database.replaceFirst(".*-", ""))
                + ",\"collection\":" + text(String.valueOf(collection))
                + ",\"filter\":" + (filter instanceof Document ? shapeOf(filter) : "{}")
                + ",\"sort\":" + (query.get("sort") instanceof Document sort ? order(sort) : "[]")
                + ",\"limited\":" + (query.get("limit") != null) + "}";
            if (SEEN.size() >= SHAPES_MAX || !SEEN.add(shape)) return;
            try {
                Files.writeString(
                    Path.of(FILE), shape + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException e) {
                System.err.println("failed to record a query: " + e);
            }
        }

        private static String shapeOf(Object value) {
            if (value instanceof Document document) {
                List<String> fields = new ArrayList<>();
                for (Entry<String, Object> field : document.entrySet()) {
                    boolean plain = field.getKey().equals("$in") || field.getKey().equals("$nin");
                    String shape = field.getKey().equals("$exists")
                        ? String.valueOf(field.getValue())
                        : plain ? "1" : shapeOf(field.getValue());
                    fields.add(text(field.getKey()) + ":" + shape);
                }
                return "{" + String.join(",", fields) + "}";
            }
            if (value instanceof List<?> all && all.stream().anyMatch(Document.class::isInstance)) {
                Set<String> shapes = new TreeSet<>();
                for (Object one : all) shapes.add(shapeOf(one));
                return "[" + String.join(",", shapes) + "]";
            }
            return value == null ? "null" : "1";
        }

        /** Pairs, because the order of an object's numeric fields is lost in JSON. */
        private static String order(Document sort) {
            List<String> fields = new ArrayList<>();
            for (Entry<String, Object> field : sort.entrySet()) {
                boolean up = ((Number) field.getValue()).intValue() > 0;
                fields.add("[" + text(field.getKey()) + "," + (up ? 1 : -1) + "]");
            }
            return "[" + String.join(",", fields) + "]";
        }

        private static String text(String value) {
            return "\"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
        }
    }

    /** Documents, and positions in a collection, as BSON instead of Java's serialisation. */
    static final class Bson extends BasicDataType<Object> {
        static final String DOCUMENTS = "databases.";
        static final String INDEX = "._index_";
        private static final int FORMAT = 1;
        /**
         * BSON's type of a string, and a document with an unnamed one: lengths, type, names, ends.
         */
        private static final byte TEXT = 0x02;
        private static final int TEXT_START = 4 + 1 + 1 + 4;
        private static final int TEXT_BYTES = TEXT_START + 2;
        private static final int OBJECT_BYTES = 24;
        private static final int ENTRY_BYTES = 80;

        static <K, V> MVMap.Builder<K, V> map(BasicDataType<?> keys) {
            return new MVMap.Builder<K, V>().keyType(cast(keys)).valueType(cast(new Bson()));
        }

        @SuppressWarnings("unchecked")
        private static <T> BasicDataType<T> cast(BasicDataType<?> type) {
            return (BasicDataType<T>) type;
        }

        /** Once, for a file of serialised objects; its indexes are built again. */
        static void convert(MVStore store) {
            if (store.getStoreVersion() == FORMAT) return;
            for (String name : store.getMapNames()) {
                if (name.contains(INDEX)) store.removeMap(name);
                if (!name.startsWith(DOCUMENTS)) continue;
                MVMap<Object, Object> old = store.openMap(name);
                store.renameMap(old, "old." + name);
                MVMap<Object, Object> converted = store.openMap(name, map(new Bson()));
                converted.putAll(old);
                store.removeMap(old);
            }
            store.setStoreVersion(FORMAT);
            store.commit();
        }

        static ByteBuf encode(Object value) {
            ByteBuf bytes = Unpooled.buffer();
            BsonEncoder.encodeDocument(
                new Document("", value instanceof Missing ? null : value), bytes);
            return bytes;
        }

        @Override
        public int compare(Object one, Object other) {
            if (one instanceof String && other instanceof String) {
                return ((String) one).compareTo((String) other);
            }
            return Arrays.compareUnsigned(Key.of(one), Key.of(other));
        }

        /** An estimate, in bytes of the heap. */
        @Override
        public int getMemory(Object value) {
            if (value instanceof String) return OBJECT_BYTES + ((String) value).length();
            if (value instanceof BinData) return OBJECT_BYTES + ((BinData) value).getData().length;
            int bytes = OBJECT_BYTES;
            if (value instanceof Map) {
                Map<?, ?> fields = (Map<?, ?>) value;
                for (Object field : fields.values()) bytes += ENTRY_BYTES + getMemory(field);
            } else if (value instanceof Collection) {
                for (Object item : (Collection<?>) value) bytes += getMemory(item);
            }
            return bytes;
        }

        @Override
        public void write(WriteBuffer out, Object value) {
            if (value instanceof String) writeText(out, (String) value);
            else out.put(encode(value).nioBuffer());
        }

        /**
         * A document with one text, like `encode`, at a fraction of its cost: nearly all values are
         * ids, and a commit writes all those of each page that has changed.
         */
        private static void writeText(WriteBuffer out, String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            out.putInt(Integer.reverseBytes(TEXT_BYTES + bytes.length))
                .put(TEXT)
                .put((byte) 0)
                .putInt(Integer.reverseBytes(bytes.length + 1))
                .put(bytes)
                .put((byte) 0)
                .put((byte) 0);
        }

        /**
         * The text of such a document, or null if it holds another value; `in` stays where it is
         * then.
         */
        private static String readText(ByteBuffer in) {
            int start = in.position();
            if (in.get(start + Integer.BYTES) != TEXT) return null;
            byte[] bytes = new byte[Integer.reverseBytes(in.getInt(start)) - TEXT_BYTES];
            in.position(start + TEXT_START);
            in.get(bytes);
            in.position(in.position() + 2);
            return new String(bytes, StandardCharsets.UTF_8);
        }

        @Override
        public Object read(ByteBuffer in) {
            String text = readText(in);
            if (text != null) return text;
            ByteBuf bytes = Unpooled.wrappedBuffer(in);
            Object value = BsonDecoder.decodeBson(bytes).get("");
            in.position(in.position() + bytes.readerIndex());
            return Missing.ofNullable(value);
        }

        @Override
        public Object[] createStorage(int size) {
            return new Object[size];
        }
    }

    /**
     * The values of an index as bytes that sort like the values: a tag for the type, then the
     * value. None is the beginning of another, so that a range of the first fields has all
     * documents with these fields.
     */
    static final class Key extends BasicDataType<byte[]> {
        private static final int NOTHING = 0x05;
        private static final int NUMBER = 0x10;
        private static final int STRING = 0x20;
        private static final int OBJECT_ID = 0x30;
        private static final int DATE = 0x40;
        private static final int OTHER = 0x50;

        static byte[] of(Object value) {
            return ofAll(List.of(), value);
        }

        static byte[] ofAll(Iterable<?> values, Object... more) {
            ByteBuf out = Unpooled.buffer();
            for (Object value : values) write(out, value);
            for (Object value : more) write(out, value);
            return bytes(out);
        }

        static byte[] after(byte[] first, Object value) {
            ByteBuf out = Unpooled.buffer().writeBytes(first);
            write(out, value);
            return bytes(out);
        }

        @Override
        public int compare(byte[] one, byte[] other) {
            return Arrays.compareUnsigned(one, other);
        }

        @Override
        public int getMemory(byte[] key) {
            return ByteArrayDataType.INSTANCE.getMemory(key);
        }

        @Override
        public void write(WriteBuffer out, byte[] key) {
            ByteArrayDataType.INSTANCE.write(out, key);
        }

        @Override
        public byte[] read(ByteBuffer in) {
            return ByteArrayDataType.INSTANCE.read(in);
        }

        @Override
        public byte[][] createStorage(int size) {
            return new byte[size][];
        }

        private static byte[] bytes(ByteBuf out) {
            return Arrays.copyOf(out.array(), out.writerIndex());
        }

        private static void write(ByteBuf out, Object value) {
            if (Missing.isNullOrMissing(value)) {
                out.writeByte(NOTHING);
            } else if (isNumber(value)) {
                // The second number orders integers that a double cannot tell apart.
                Number number = (Number) value;
                long bits = Double.doubleToLongBits(number.doubleValue() + 0.0);
                out.writeByte(NUMBER);
                out.writeLong(bits < 0 ? ~bits : bits ^ Long.MIN_VALUE);
                out.writeLong(number.longValue() ^ Long.MIN_VALUE);
            } else if (value instanceof String) {
                out.writeByte(STRING);
                for (byte one : ((String) value).getBytes(StandardCharsets.UTF_8)) {
                    out.writeByte(one);
                    if (one == 0) out.writeByte(0xff);
                }
                out.writeByte(0).writeByte(0);
            } else if (value instanceof ObjectId) {
                out.writeByte(OBJECT_ID).writeBytes(((ObjectId) value).toByteArray());
            } else if (value instanceof Instant) {
                out.writeByte(DATE);
                out.writeLong(((Instant) value).toEpochMilli() ^ Long.MIN_VALUE);
            } else {
                out.writeByte(OTHER).writeBytes(Bson.encode(value));
            }
        }
    }

    static boolean isNumber(Object value) {
        return value instanceof Integer || value instanceof Long || value instanceof Double;
    }

    /**
     * The part of an index that a query can match: for each combination of values, the first key
     * and the beginning of the last one. The documents in it are compared with the whole query
     * afterwards.
     */
    static final class Ranges {
        static final Ranges NONE = new Ranges(List.of(), 0, false);

        final List<byte[][]> ranges;
        /** How many of the index's fields, from the first on, the query restricts. */
        final int fields;
        /** The query gives values of these fields, and no bound. */
        final boolean exact;

        private Ranges(List<byte[][]> ranges, int fields, boolean exact) {
            this.ranges = ranges;
            this.fields = fields;
            this.exact = exact;
        }

        /** `arrays`: a document may have several values of a field. */
        static Ranges of(Index<Object> index, Document query, boolean arrays) {
            List<byte[]> found = List.of(new byte[0]);
            int fields = 0;
            Set<String> parents = new HashSet<>();
            for (IndexKey key : index.getKeys()) {
                // Two fields may match in different elements of an array; the index has them
                // together.
                String[] path = key.getKey().split("\\.", 2);
                if (path.length > 1 && !parents.add(path[0])) break;
                Object wanted = query.get(key.getKey());
                List<Object> values = equalTo(wanted);
                if (values.isEmpty()) return beside(found, fields, wanted, arrays);
                found = found.stream()
                    .flatMap(first -> values.stream().map(value -> Key.after(first, value)))
                    .collect(Collectors.toList());
                fields++;
            }
            return of(found, found, fields);
        }

        /** Adds the bounds of the next field, if the query has any. */
        private static Ranges beside(
            List<byte[]> found, int fields, Object wanted, boolean arrays) {
            Object low = bound(wanted, "$gte", "$gt");
            Object high = bound(wanted, "$lte", "$lt");
            if (low == null && high == null) return of(found, found, fields);
            // An array may have one element for each bound, so only one of them counts.
            if (arrays && low != null) high = null;
            List<byte[]> from = after(found, low == null ? high : low);
            List<byte[]> to = after(found, high == null ? low : high);
            if (low == null) from = typeOf(from, found);
            if (high == null) to = typeOf(to, found);
            return of(from, to, fields + 1);
        }

        private static List<byte[]> after(List<byte[]> found, Object value) {
            return found.stream().map(first -> Key.after(first, value)).collect(Collectors.toList());
        }

        /** Returns the prefix that every value of the type has. */
        private static List<byte[]> typeOf(List<byte[]> keys, List<byte[]> found) {
            List<byte[]> types = new ArrayList<>();
            for (int i = 0; i < keys.size(); i++) {
                types.add(Arrays.copyOf(keys.get(i), found.get(i).length + 1));
            }
            return types;
        }

        private static Ranges of(List<byte[]> low, List<byte[]> high, int fields) {
            if (fields == 0) return NONE;
            List<byte[][]> ranges = new ArrayList<>();
            for (int i = 0; i < low.size(); i++) {
                ranges.add(new byte[][] {low.get(i), high.get(i)});
            }
            return new Ranges(ranges, fields, low == high);
        }

        /** The values that the query allows for a field; empty if it does not list them. */
        private static List<Object> equalTo(Object wanted) {
            Collection<?> values = List.of();
            if (wanted instanceof Document && isExpression((Document) wanted)) {
                Document expression = (Document) wanted;
                if (expression.get("$in") instanceof Collection) {
                    values = (Collection<?>) expression.get("$in");
                } else if (expression.get("$eq") != null) {
                    values = List.of(expression.get("$eq"));
                }
            } else if (wanted != null) {
                values = List.of(wanted);
            }
            if (!values.stream().allMatch(Ranges::isPlain)) return List.of();
            return values.stream().map(Ranges::normalized).distinct().collect(Collectors.toList());
        }

        private static boolean isExpression(Document document) {
            return document.keySet().stream().anyMatch(key -> key.startsWith("$"));
        }

        /** Nothing, arrays and patterns match more than their own key. */
        private static boolean isPlain(Object value) {
            return !Missing.isNullOrMissing(value)
                && !(value instanceof Collection)
                && !BsonRegularExpression.isRegularExpression(value)
                && !(value instanceof Document && isExpression((Document) value));
        }

        private static Object normalized(Object value) {
            return new KeyValue(value).normalized().get(0);
        }

        /** Only if bytes sort as the library compares: it compares strings by their UTF-16. */
        private static Object bound(Object wanted, String... operators) {
            if (!(wanted instanceof Document)) return null;
            for (String operator : operators) {
                Object value = ((Document) wanted).get(operator);
                boolean sorts = value instanceof Instant || value instanceof ObjectId
                    || isNumber(value)
                    || value instanceof String && ((String) value).chars().allMatch(c -> c < 128);
                if (sorts) return value;
            }
            return null;
        }

        Set<Object> positions(Function<byte[], Iterator<Entry<byte[], Object>>> from) {
            Set<Object> positions = new LinkedHashSet<>();
            for (byte[][] range : ranges) {
                byte[] high = range[1];
                Iterator<Entry<byte[], Object>> entries = from.apply(range[0]);
                while (entries.hasNext()) {
                    Entry<byte[], Object> entry = entries.next();
                    byte[] key = entry.getKey();
                    int length = Math.min(key.length, high.length);
                    if (Arrays.compareUnsigned(key, 0, length, high, 0, high.length) > 0) break;
                    positions.add(entry.getValue());
                }
            }
            return positions;
        }
    }

    interface RangeIndex {
        Ranges ranges(Document query);

        Set<Object> positions(Ranges ranges);
    }

    static final class UniqueIndex extends AbstractUniqueIndex<Object> implements RangeIndex {
        private final MVMap<byte[], Object> positions;

        UniqueIndex(
            MVMap<byte[], Object> positions, String name, List<IndexKey> keys, boolean sparse) {
            super(name, keys, sparse);
            this.positions = positions;
        }

        /**
         * A document without a value, or with an empty array, is not in it: all must be given. An
         * id is no array.
         */
        @Override
        public Ranges ranges(Document query) {
            Ranges ranges = Ranges.of(this, query, !isOfIds());
            return ranges.fields == getKeys().size() ? ranges : Ranges.NONE;
        }

        boolean isOfIds() {
            return getKeys().size() == 1 && getKeys().get(0).getKey().equals("_id");
        }

        /** The positions of a range from its end to its beginning, each read when it is next. */
        Iterator<Object> backwards(byte[][] range) {
            byte[] low = range[0];
            // Behind every key that begins as the last one: no value has these bytes.
            byte[] high = Arrays.copyOf(range[1], range[1].length + 8);
            Arrays.fill(high, range[1].length, high.length, (byte) 0xff);
            Cursor<byte[], Object> keys = positions.cursor(high, low, true);
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return keys.hasNext();
                }

                @Override
                public Object next() {
                    keys.next();
                    return keys.getValue();
                }
            };
        }

        @Override
        public Set<Object> positions(Ranges ranges) {
            return ranges.positions(low -> {
                Cursor<byte[], Object> keys = positions.cursor(low);
                return new Iterator<>() {
                    @Override
                    public boolean hasNext() {
                        return keys.hasNext();
                    }

                    @Override
                    public Entry<byte[], Object> next() {
                        return Map.entry(keys.next(), keys.getValue());
                    }
                };
            });
        }

        @Override
        protected Object getPosition(KeyValue values) {
            return positions.get(Key.ofAll(values));
        }

        @Override
        protected boolean putKeyPosition(KeyValue values, Object position) {
            return positions.putIfAbsent(Key.ofAll(values), Missing.ofNullable(position)) == null;
        }

        @Override
        protected Object removeDocument(KeyValue values) {
            return positions.remove(Key.ofAll(values));
        }

        @Override
        protected Iterable<Entry<KeyValue, Object>> getIterable() {
            throw new UnsupportedOperationException("only for patterns, which no index is used for");
        }

        @Override
        public long getCount() {
            return positions.sizeAsLong();
        }

        @Override
        public long getDataSize() {
            return getCount();
        }
    }

    /**
     * Built by the first query that can use it, and kept in memory: an index that no query uses
     * costs nothing.
     */
    static final class SecondaryIndex extends Index<Object> implements RangeIndex {
        /** Used under the lock of its collection only. */
        private NavigableMap<byte[], Object> positions;
        /** A document has had several values of a field since it was built. */
        private boolean arrays;

        SecondaryIndex(String name, List<IndexKey> keys) {
            // Sparse, for the library: a document may have no position in it.
            super(name, keys, true);
        }

        @Override
        public Ranges ranges(Document query) {
            return Ranges.of(this, query, positions == null || arrays);
        }

        @Override
        public Set<Object> positions(Ranges ranges) {
            return ranges.positions(low -> positions.tailMap(low).entrySet().iterator());
        }

        void build(Stream<DocumentWithPosition<Object>> documents) {
            if (positions != null) return;
            positions = new TreeMap<>(Arrays::compareUnsigned);
            documents.forEach(one -> add(one.getDocument(), one.getPosition(), null));
        }

        @Override
        public void add(
            Document document, Object position, MongoCollection<Object> collection) {
            if (positions == null) return;
            Set<KeyValue> keys = keysOf(document);
            if (keys.size() > 1) arrays = true;
            for (KeyValue values : keys) positions.put(Key.ofAll(values, position), position);
        }

        @Override
        public Object remove(Document document) {
            if (positions == null) return null;
            Object position = Missing.ofNullable(document.get("_id"));
            for (KeyValue values : keysOf(document)) positions.remove(Key.ofAll(values, position));
            return null;
        }

        /** An empty array counts as nothing; the library would leave its document out. */
        private Set<KeyValue> keysOf(Document document) {
            Set<KeyValue> found = getKeyValues(document);
            if (!found.isEmpty()) return found;
            List<Object> values = keys().stream()
                .map(key -> Utils.getSubdocumentValueCollectionAware(document, key))
                .map(value -> value instanceof Collection ? null : value)
                .collect(Collectors.toList());
            return Set.of(new KeyValue(values).normalized());
        }

        @Override
        public void updateInPlace(
            Document before, Document after, Object position, MongoCollection<Object> collection) {
            if (positions == null || keysOf(before).equals(keysOf(after))) return;
            remove(before);
            add(after, position, collection);
        }

        @Override
        public Object getPosition(Document document) {
            return null;
        }

        @Override
        public void checkAdd(Document document, MongoCollection<Object> collection) {}

        @Override
        public void checkUpdate(
            Document before, Document after, MongoCollection<Object> collection) {}

        @Override
        public boolean canHandle(Document query) {
            return ranges(query).fields > 0;
        }

        @Override
        public Iterable<Object> getPositions(Document query) {
            return positions(ranges(query));
        }

        @Override
        public long getCount() {
            return positions == null ? 0 : positions.size();
        }

        @Override
        public long getDataSize() {
            return getCount();
        }

        @Override
        public void drop() {}
    }

    /**
     * Uses a unique index whose values a query gives, else the index of which it restricts most
     * fields; the library wants exactly these.
     */
    static final class IndexedCollection extends H2Collection {
        IndexedCollection(
            MongoDatabase database, String name, CollectionOptions options,
            MVMap<Object, Document> documents, MVMap<String, Object> meta, CursorRegistry cursors) {
            super(database, name, options, documents, meta, cursors);
        }

        /** An aggregation reads its own collection first, before those of its later stages. */
        @Override
        public Stream<Document> queryAllAsStream() {
            Document selected = SELECTED.get();
            SELECTED.remove();
            return selected == null ? super.queryAllAsStream() : handleQueryAsStream(selected);
        }

        @Override
        protected synchronized QueryResult queryDocuments(
            Document query, Document order, int skip, int limit, int batch, Document fields) {
            RangeIndex best = null;
            Ranges ranges = Ranges.NONE;
            for (Index<Object> index : getIndexes()) {
                Ranges found = ((RangeIndex) index).ranges(query);
                boolean unique = index instanceof UniqueIndex && found.exact;
                if (unique || found.fields > ranges.fields) {
                    best = (RangeIndex) index;
                    ranges = found;
                }
                if (unique) break;
            }
            if (best == null) return matchDocuments(query, order, skip, limit, batch, fields);
            if (best instanceof SecondaryIndex) {
                ((SecondaryIndex) best).build(streamAllDocumentsWithPosition());
                ranges = best.ranges(query);
            }
            Set<Object> positions = limit > 0 && isNewestIds(best, ranges, order)
                ? first(((UniqueIndex) best).backwards(ranges.ranges.get(0)), query, skip + limit)
                : best.positions(ranges);
            return matchDocuments(query, positions, order, skip, limit, batch, fields);
        }

        /** The last ids of one range: the index has them in this order. */
        private static boolean isNewestIds(RangeIndex index, Ranges ranges, Document order) {
            return index instanceof UniqueIndex && ((UniqueIndex) index).isOfIds()
                && ranges.ranges.size() == 1 && order != null && order.size() == 1
                && order.get("_id") instanceof Number && ((Number) order.get("_id")).intValue() < 0;
        }

        private Set<Object> first(Iterator<Object> positions, Document query, int count) {
            Set<Object> found = new LinkedHashSet<>();
            while (found.size() < count && positions.hasNext()) {
                Object position = positions.next();
                if (documentMatchesQuery(getDocument(position), query)) found.add(position);
            }
            return found;
        }
    }
}
