// A client over HTTP, of the server of http-server.mjs. It needs `oxmcp`.
//
//   node http-client.mjs URL [NUMBER]

import { Client, McpError, StreamableHTTPClientTransport } from 'oxmcp';

const [url, by = '1'] = process.argv.slice(2);
if (url === undefined) {
  console.error('usage: node http-client.mjs URL [NUMBER]');
  process.exit(2);
}

const client = new Client({ name: 'example-http-client', version: '1.0.0' });
try {
  await client.connect(new StreamableHTTPClientTransport(url, { headers: { 'X-Example': 'node' } }));
  const { name, version } = client.getServerVersion();
  console.log(`connected to ${name} ${version}, revision ${client.getNegotiatedProtocolVersion()}`);

  const updated = new Promise((resolve) => client.setNotificationHandler('notifications/resources/updated', resolve));
  const stream = await client.listen({ resourceSubscriptions: ['counter://count'] });

  const { structuredContent } = await client.callTool(
    { name: 'count', arguments: { by: Number(by) } },
    { signal: AbortSignal.timeout(60_000), onprogress: ({ progress, total }) => console.log(`progress ${progress} of ${total}`) },
  );
  console.log('the count is', structuredContent.count);

  await updated;
  const { contents } = await client.readResource({ uri: 'counter://count' });
  console.log('the resource says', contents[0].text);
  await stream.close();
} catch (error) {
  if (!(error instanceof McpError)) throw error;
  console.error(`${error.name}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await client.close();
}
