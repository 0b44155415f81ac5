package bmg.client;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import okhttp3.Response;

/**
 * An error answer of the gateway. Branch on {@link #code}. Repeat the unchanged request only if
 * {@link #retryable} is true.
 */
public final class GatewayException extends RuntimeException {
  /** A code of the client, not of the gateway: the page of a proxy, for example. */
  public static final String UNEXPECTED_ANSWER = "UNEXPECTED_ANSWER";

  private static final double RETRY_AFTER_MAX_S = 60;
  private static final Gson GSON = new Gson();

  private final int status;
  private final transient JsonObject fields;
  private final Duration retryAfter;

  GatewayException(int status, JsonObject fields, Duration retryAfter) {
    super(text(fields, "code") + ": " + text(fields, "message"));
    this.status = status;
    this.fields = fields;
    this.retryAfter = retryAfter;
  }

  /**
   * The error of an answer, or null for a success. A proxy may have passed the request on, so after
   * its error only a request that is safe to repeat is retryable.
   */
  static GatewayException of(Response response) throws IOException {
    boolean isSafe = Retries.isSafe(response.request());
    String type = response.header("content-type", "");
    if (response.isSuccessful() && !type.startsWith("text/html")) return null;
    Duration wait = retryAfter(response);
    JsonObject given = response.isSuccessful() ? null : errorIn(response);
    if (given != null) return new GatewayException(response.code(), given, wait);
    int status = response.isSuccessful() ? 502 : response.code();
    boolean passes = status >= 500 || status == 429 || status == 408;
    JsonObject made = new JsonObject();
    made.addProperty("code", UNEXPECTED_ANSWER);
    String received = type.isEmpty() ? "no content type" : type;
    made.addProperty(
        "message",
        "HTTP " + response.code() + " with " + received + ": not an answer of the gateway");
    made.addProperty("retryable", isSafe && passes);
    made.addProperty("request_id", response.header("x-request-id", ""));
    if (passes && !isSafe) {
      JsonObject details = new JsonObject();
      details.addProperty("outcome", "unknown");
      made.add("details", details);
    }
    return new GatewayException(status, made, wait);
  }

  private static JsonObject errorIn(Response response) throws IOException {
    String body = response.peekBody(Long.MAX_VALUE).string();
    try {
      JsonObject error = JsonParser.parseString(body).getAsJsonObject().getAsJsonObject("error");
      return text(error, "code").isEmpty() ? null : error;
    } catch (JsonParseException | IllegalStateException | ClassCastException | NullPointerException e) {
      return null;
    }
  }

  private static Duration retryAfter(Response response) {
    try {
      double seconds = Double.parseDouble(response.header("retry-after", ""));
      if (Double.isNaN(seconds)) return null;
      return Duration.ofMillis(Math.round(1000 * Math.min(Math.max(seconds, 0), RETRY_AFTER_MAX_S)));
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private static String text(JsonObject fields, String name) {
    JsonElement value = fields.get(name);
    return value == null || value.isJsonNull() ? "" : value.getAsString();
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }

  /** The code, for example {@code INVALID_FIELD}. */
  public String code() {
    return text(fields, "code");
  }

  /** True if the unchanged request may succeed later. */
  public boolean retryable() {
    return Boolean.parseBoolean(text(fields, "retryable"));
  }

  /** The page of the reference about the code. */
  public String docUrl() {
    return text(fields, "doc_url");
  }

  /** The ID of the request, for questions to the operator. */
  public String requestId() {
    return text(fields, "request_id");
  }

  /** The details: usually a map, for example with {@code field}; null if there are none. */
  public Object details() {
    return GSON.fromJson(fields.get("details"), Object.class);
  }

  /** Every field of the error, including those without a method here. */
  @SuppressWarnings("unchecked")
  public Map<String, Object> fields() {
    return GSON.fromJson(fields, Map.class);
  }

  /** The time of {@code Retry-After}; null if the answer names none. */
  public Duration retryAfter() {
    return retryAfter;
  }

  /** True if the unchanged request may succeed later, whatever the error states. */
  boolean passes() {
    return status >= 500 || status == 429;
  }
}
