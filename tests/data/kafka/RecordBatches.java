// Writes record_batches.jsonl: batches as Kafka's own classes make them. java -cp "$KAFKA_JARS/*" RecordBatches.java > record_batches.jsonl
import java.nio.ByteBuffer;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.*;
import org.apache.kafka.common.record.internal.*;
public class RecordBatches {
  public static void main(String[] a) {
    for (CompressionType type : CompressionType.values()) {
      ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
      MemoryRecordsBuilder b = MemoryRecords.builder(buffer, (byte) 2, Compression.of(type).build(), TimestampType.CREATE_TIME, 1000L, 1700000000000L, 42L, (short) 3, 7, true, false, 5);
      for (int i = 0; i < 20; i++)
        b.append(1700000000000L + i, ("key-" + i).getBytes(), i % 5 == 4 ? null : ("value-" + "abc".repeat(i * 10)).getBytes(), new Header[] { new RecordHeader("h" + i, new byte[] {(byte) i}) });
      print(type.name, b.build().buffer());
    }
    MemoryRecords marker = MemoryRecords.withEndTransactionMarker(77L, 1700000000000L, 5, 42L, (short) 3, new EndTransactionMarker(ControlRecordType.COMMIT, 9));
    print("control", marker.buffer());
    for (byte magic = 0; magic < 2; magic++) {
      MemoryRecordsBuilder b = MemoryRecords.builder(ByteBuffer.allocate(4096), magic, Compression.NONE, TimestampType.CREATE_TIME, 0L);
      b.append(1700000000000L, "key".getBytes(), "value".getBytes());
      print("magic" + magic, b.build().buffer());
    }
  }
  static void print(String name, ByteBuffer b) {
    StringBuilder s = new StringBuilder();
    while (b.hasRemaining()) s.append(String.format("%02x", b.get()));
    System.out.println("{\"name\": \"" + name + "\", \"hex\": \"" + s + "\"}");
  }
}
