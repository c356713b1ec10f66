// A web server that counts as ready when it has answered a request of its own. A port without a number: several at once.
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

public class Server {
  public static void main(String[] arguments) throws Exception {
    System.out.println("hello");
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newFixedThreadPool(4));
    server.createContext("/sum", exchange -> {
      byte[] body = String.valueOf(IntStream.rangeClosed(1, 3).sum()).getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
    URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/sum");
    HttpResponse<String> response =
        HttpClient.newHttpClient().send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
    System.out.println("answered " + response.statusCode() + " " + response.body());
    System.out.println("done");
    System.exit(0);
  }
}
