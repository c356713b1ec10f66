// A web server that counts as ready when it has answered a request of its own. A port without a number: several at once.
console.log('hello');
const express = require('express');
const bodyParser = require('body-parser');
const http = require('http');

const app = express();
app.use(bodyParser.json());
app.post('/sum', (request, response) => {
  response.json({ sum: request.body.numbers.reduce((sum, number) => sum + number, 0) });
});

const server = app.listen(0, '127.0.0.1', () => {
  const options = {
    host: '127.0.0.1',
    port: server.address().port,
    path: '/sum',
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
  };
  const request = http.request(options, (response) => {
    let body = '';
    response.on('data', (piece) => (body += piece));
    response.on('end', () => {
      console.log('answered', response.statusCode, body);
      console.log('done');
      process.exit(0);
    });
  });
  request.end(JSON.stringify({ numbers: [1, 2, 3] }));
});
