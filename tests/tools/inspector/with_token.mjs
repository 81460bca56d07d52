// with_token.mjs: adds a token to every request on its way to the server, for clients that send none.
//
// usage: TOKEN=... node with_token.mjs SERVER_PORT    prints its own port
import http from 'node:http';

const port = Number(process.argv[2]);
http
  .createServer((asked, reply) => {
    const headers = { ...asked.headers, authorization: `Bearer ${process.env.TOKEN}` };
    // What a page of another site would send must arrive as it is.
    const ours = /^(localhost|127\.0\.0\.1)(:|$)/;
    if (ours.test(headers.host ?? '')) headers.host = `127.0.0.1:${port}`;
    if (ours.test((headers.origin ?? '').replace('http://', ''))) headers.origin = `http://127.0.0.1:${port}`;
    const passed = http.request(
      { host: '127.0.0.1', port, method: asked.method, path: asked.url, headers },
      (answer) => {
        reply.writeHead(answer.statusCode, answer.headers);
        answer.pipe(reply);
      },
    );
    passed.on('error', () => reply.destroy());
    asked.pipe(passed);
  })
  .listen(0, '127.0.0.1', function () {
    console.log(this.address().port);
  });
