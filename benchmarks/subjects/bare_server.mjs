// The least a stdio MCP server in Node can do: split the input into lines, parse, look at the method and the id, answer.

const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'bare', version: '1.0.0' },
};
const TOOLS = {
  tools: [
    {
      name: 'echo',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    },
  ],
};

function answer({ id, method, params }) {
  switch (method) {
    case 'tools/call':
      return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: params.arguments.text }] } };
    case 'initialize':
      return { jsonrpc: '2.0', id, result: INITIALIZE };
    case 'tools/list':
      return { jsonrpc: '2.0', id, result: TOOLS };
    case 'ping':
      return { jsonrpc: '2.0', id, result: {} };
    default:
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
  }
}

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const request = JSON.parse(line);
    if (request.id !== undefined) process.stdout.write(`${JSON.stringify(answer(request))}\n`);
  }
});
