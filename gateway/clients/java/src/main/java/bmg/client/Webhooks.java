package bmg.client;

import bmg.client.rest.JSON;
import bmg.client.rest.model.EventEnvelope;
import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies an event that was posted to a webhook URL. */
public final class Webhooks {
  static {
    // Its constructor prepares the parser of the generated classes.
    new JSON();
  }

  private Webhooks() {}

  /**
   * Returns the event; checks {@code webhook-signature}, of the Standard Webhooks convention.
   *
   * @param headers of the request
   * @param body the exact text of the request, in UTF-8
   * @param secrets the webhook secret; while it is rotated, both
   * @throws WebhookVerificationException if no secret matches, or if its time differs by more than
   * 5 minutes
   */
  public static EventEnvelope verify(
      Map<String, List<String>> headers, String body, List<String> secrets)
      throws WebhookVerificationException {
    WebhookVerificationException failure =
        new WebhookVerificationException("no webhook secret is given");
    Map<String, List<String>> named = lowercase(headers);
    for (String secret : secrets) {
      refuseEmpty(secret);
      try {
        new Webhook(secret).verify(body, named);
        return event(body);
      } catch (WebhookVerificationException e) {
        failure = e;
      }
    }
    throw failure;
  }

  /**
   * Returns the event; checks {@code x-service-signature}, which only the newest secret makes. It
   * covers no time: prefer {@link #verify}, or call both.
   *
   * @throws WebhookVerificationException if no secret fits
   */
  public static EventEnvelope verifyServiceSignature(
      Map<String, List<String>> headers, String body, List<String> secrets)
      throws WebhookVerificationException {
    List<String> given = lowercase(headers).getOrDefault("x-service-signature", List.of(""));
    for (String secret : secrets) {
      refuseEmpty(secret);
      if (MessageDigest.isEqual(bytes("sha256=" + hmac(secret, body)), bytes(given.get(0)))) {
        return event(body);
      }
    }
    throw new WebhookVerificationException("x-service-signature does not match");
  }

  /** Every sender can sign with an empty key. */
  private static void refuseEmpty(String secret) throws WebhookVerificationException {
    if (secret.isEmpty() || secret.equals(Webhook.SECRET_PREFIX)) {
      throw new WebhookVerificationException("a webhook secret is empty");
    }
  }

  private static Map<String, List<String>> lowercase(Map<String, List<String>> headers) {
    return headers.entrySet().stream()
        .filter(entry -> entry.getKey() != null && !entry.getValue().isEmpty())
        .collect(
            Collectors.toMap(
                entry -> entry.getKey().toLowerCase(Locale.ROOT), Map.Entry::getValue, (a, b) -> a));
  }

  private static String hmac(String secret, String body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(bytes(secret), "HmacSHA256"));
      return HexFormat.of().formatHex(mac.doFinal(bytes(body)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static EventEnvelope event(String body) {
    return JSON.getGson().fromJson(body, EventEnvelope.class);
  }
}
