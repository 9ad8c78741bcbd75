// Our Node package over HTTP: `our_http_server.mjs tools|surface`. Prints its address, and ends when its standard input
// does.

import { server as tools } from './our_server.mjs';
import { server as surface } from './surface.mjs';

const server = process.argv[2] === 'tools' ? tools : surface;
const http = await server.listen({ port: 0 });
console.log(String(http.url));
process.stdin.on('end', () => http.close()).resume();
