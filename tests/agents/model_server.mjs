// model_server.mjs PORT SCRIPT.json LOG.jsonl: a model on the loopback that says what a script tells it to.
// SCRIPT: {"turns": [{"text": "..."} | {"tool": {"name", "input"}} | {"status": 401, "body": {}} | {"hang": true}]};
// the last turn repeats. Speaks Anthropic Messages, OpenAI Responses and OpenAI Chat Completions.
import fs from 'node:fs';
import http from 'node:http';

const [port, script, log] = process.argv.slice(2);
const { turns } = JSON.parse(fs.readFileSync(script, 'utf8'));
const USED = { input_tokens: 1000, output_tokens: 50 };
let asked = 0;
const event = (res, name, data) => res.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);

function messages(res, body, turn) {
  const block = turn.tool
    ? { type: 'tool_use', id: `toolu_${asked}`, name: turn.tool.name, input: turn.tool.input }
    : { type: 'text', text: turn.text };
  const stop_reason = turn.tool ? 'tool_use' : 'end_turn';
  const message = { id: `msg_${asked}`, type: 'message', role: 'assistant', model: body.model, content: [],
    stop_reason: null, stop_sequence: null,
    usage: { input_tokens: USED.input_tokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 } };
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  event(res, 'message_start', { type: 'message_start', message });
  const empty = turn.tool ? { ...block, input: {} } : { ...block, text: '' };
  event(res, 'content_block_start', { type: 'content_block_start', index: 0, content_block: empty });
  const delta = turn.tool
    ? { type: 'input_json_delta', partial_json: JSON.stringify(turn.tool.input) }
    : { type: 'text_delta', text: turn.text };
  event(res, 'content_block_delta', { type: 'content_block_delta', index: 0, delta });
  event(res, 'content_block_stop', { type: 'content_block_stop', index: 0 });
  event(res, 'message_delta', { type: 'message_delta', delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: USED.output_tokens } });
  event(res, 'message_stop', { type: 'message_stop' });
  res.end();
}

function responses(res, turn) {
  const id = `resp_${asked}`;
  const item = { type: 'message', id: `msg_${asked}`, role: 'assistant', status: 'completed',
    content: [{ type: 'output_text', text: turn.text, annotations: [] }] };
  const usage = { input_tokens: USED.input_tokens, input_tokens_details: { cached_tokens: 0 },
    output_tokens: USED.output_tokens, output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USED.input_tokens + USED.output_tokens };
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  event(res, 'response.created', { type: 'response.created', response: { id, object: 'response', status: 'in_progress', output: [] } });
  event(res, 'response.output_item.added', { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } });
  event(res, 'response.output_text.delta', { type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta: turn.text });
  event(res, 'response.output_item.done', { type: 'response.output_item.done', output_index: 0, item });
  event(res, 'response.completed', { type: 'response.completed', response: { id, object: 'response', status: 'completed', output: [item], usage } });
  res.end();
}

function chat(res, turn) {
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ choices: [{ message: { content: turn.text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: USED.input_tokens, completion_tokens: USED.output_tokens } }));
}

http.createServer((req, res) => {
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    const path = req.url.split('?')[0];
    let body = {};
    try { body = JSON.parse(Buffer.concat(chunks).toString() || '{}'); } catch { /* Not JSON: logged as empty. */ }
    fs.appendFileSync(log, JSON.stringify({ method: req.method, path, body }) + '\n');
    const known = ['/v1/messages', '/v1/responses', '/v1/chat/completions'];
    if (req.method !== 'POST' || !known.includes(path)) { res.writeHead(404); return res.end('{}'); }
    const turn = turns[Math.min(asked++, turns.length - 1)];
    if (turn.hang) return undefined;
    if (turn.status) { res.writeHead(turn.status, { 'content-type': 'application/json' }); return res.end(JSON.stringify(turn.body ?? {})); }
    if (path === '/v1/messages') return messages(res, body, turn);
    return path === '/v1/responses' ? responses(res, turn) : chat(res, turn);
  });
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
