// Tools that ask the client for something while they run (2025-11-25).

const string = (description) => ({ type: 'string', description });
const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties) });

/** Asks the person, and tells what came. */
async function elicit(ctx, message, properties, told, required = []) {
  const requestedSchema = { type: 'object', properties, required };
  const { action, content } = await ctx.mcpReq.elicitInput({ message, requestedSchema });
  return `${told}: action=${action}, content=${JSON.stringify(content)}`;
}

async function sampling({ prompt }, ctx) {
  const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
  const { content } = await ctx.mcpReq.requestSampling({ messages, maxTokens: 100 });
  return `LLM response: ${content.text}`;
}

const defaults = (ctx) =>
  elicit(
    ctx,
    'Please check the defaults.',
    {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
    'Elicitation completed',
  );

function enums(ctx) {
  const titled = ['First', 'Second', 'Third'].map((title, at) => ({ const: `value${at + 1}`, title: `${title} Option` }));
  const options = ['option1', 'option2', 'option3'];
  const properties = {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  };
  return elicit(ctx, 'Please choose.', properties, 'Elicitation completed');
}

export function add(server) {
  const prompt = object({ prompt: string('What the model is asked.') });
  server.registerTool('test_sampling', { description: 'Asks the model.', inputSchema: prompt }, sampling);
  const asked = object({ message: string('What the person is asked.') });
  server.registerTool('test_elicitation', { description: 'Asks the person.', inputSchema: asked }, ({ message }, ctx) =>
    elicit(ctx, message, { response: string('Your answer') }, 'User response', ['response']),
  );
  server.registerTool('test_elicitation_sep1034_defaults', { description: 'Asks with defaults.' }, defaults);
  server.registerTool('test_elicitation_sep1330_enums', { description: 'Asks for choices.' }, enums);
}
