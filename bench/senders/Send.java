// Sends captures with java.net.http: `java Send.java URL COUNT BYTES VERSION`. By default (HTTP_2) the client asks for an upgrade to h2c.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

class Send {
  public static void main(String[] args) throws Exception {
    var client = HttpClient.newBuilder().version(HttpClient.Version.valueOf(args[3])).build();
    var body = "{\"data\":\"" + "x".repeat(Integer.parseInt(args[2])) + "\"}";
    var request = HttpRequest.newBuilder(URI.create(args[0]))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
    for (int nth = 0; nth < Integer.parseInt(args[1]); nth++) {
      var response = client.send(request, HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() != 200) throw new Exception("A capture was answered with " + response.statusCode());
    }
  }
}
