// campaign.mjs: the official SDK's client takes an unmodified job to a patch that waits for a person, by the
// steps of integrations/skills/amdahl/SKILL.md and nothing but the tools of `amdahl mcp`.
//
// usage: node campaign.mjs CLIENTS AMDAHL FOLDER PATCH PYTHON    prints the hypothesis
import { readFileSync } from 'node:fs';

const [clients, amdahl, folder, patch, python] = process.argv.slice(2);
const packages = `${clients}/node_modules/@modelcontextprotocol/sdk/dist/esm/client`;
const { Client } = await import(`${packages}/index.js`);
const { StdioClientTransport } = await import(`${packages}/stdio.js`);

const client = new Client({ name: 'campaign', version: '1' });
await client.connect(
  new StdioClientTransport({
    command: amdahl,
    args: ['mcp', '--budget', '15m', '--accelerators', '1', '--', python, 'job.py'],
    cwd: folder,
    env: process.env,
  }),
);

async function call(name, args = {}) {
  const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 120_000 });
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  return result.structuredContent;
}
async function finished() {
  let status;
  do status = await call('loop_status', { wait_s: 50 });
  while (status.session.running);
  return status;
}
function expect(holds, what, seen) {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(seen)}`);
}

const tools = (await client.listTools()).tools.map((tool) => tool.name);
expect(!tools.some((name) => /approve|promote|shell/.test(name)), 'no tool promotes', tools);
await call('adopt_job');
const { family } = (await finished()).session;
await call('run_experiments', { family, until: 'profiled' });
await finished();
const packet = await call('evidence_packet', { family });
expect(packet.role === 'propose', 'a packet', packet);
const { causes } = await call('query_profile', { family, about: 'causes' });
expect(causes.length > 0, 'causes', causes);
const proposed = await call('propose_change', {
  family,
  change: { patch: readFileSync(patch, 'utf8') },
  title: 'ask once',
  mechanism: 'the answer never changes',
  gain_percent: 60,
});
expect(proposed.accepted, 'accepted', proposed);
await call('run_experiments', { family, hypothesis: proposed.hypothesis });
let status;
do {
  status = await call('experiment_status', { id: proposed.hypothesis, wait_s: 50 });
  if (status.waits_for === 'a cycle') {
    await finished();
    await call('run_experiments', { family, hypothesis: proposed.hypothesis });
  }
} while (status.waits_for === 'pairs' || status.waits_for === 'a cycle');
expect(status.waits_for === 'a person', 'it waits for a person', status);
console.log(proposed.hypothesis);
await client.close();
