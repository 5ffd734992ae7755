// Runs a check of a WorkRail run in a CI job: node attest.mjs https://HOST/s/SPACE RUN CHECK [--unseen]
// Without --unseen it runs only commands that the agent did not bring or choose itself. With it, give the job no secrets.
// The job proves who it is with its own OpenID token: GitHub gives it to jobs with `permissions: id-token: write`,
// GitLab with `id_tokens: {WORKRAIL_CI_TOKEN: {aud: https://HOST}}`.
import { spawn } from 'node:child_process';

const LOG_LENGTH_MAX = 60_000;
const [space = '', run = '', check = '', unseen] = process.argv.slice(2);
const { WORKRAIL_CI_TOKEN, ACTIONS_ID_TOKEN_REQUEST_URL: from, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = process.env;

async function answered(response) {
  const reply = await response.json();
  if (!response.ok) throw new Error(`${reply.error?.message ?? response.status} ${reply.error?.suggestion ?? ''}`);
  return reply;
}

async function jobToken() {
  if (WORKRAIL_CI_TOKEN) return WORKRAIL_CI_TOKEN;
  if (!from) throw new Error('This job has no OpenID token: add "permissions: id-token: write" to it.');
  const audience = encodeURIComponent(new URL(space).origin);
  const asked = await fetch(`${from}&audience=${audience}`, { headers: { authorization: `Bearer ${secret}` } });
  return (await answered(asked)).value;
}

const headers = { authorization: `Bearer ${await jobToken()}`, 'content-type': 'application/json' };
const address = `${space.replace(/\/$/, '')}/api/attestations`;
const query = new URLSearchParams({ run, check, ...(unseen === '--unseen' && { unseen: 'allowed' }) });
const { command, commandDigest } = await answered(await fetch(`${address}?${query}`, { headers }));

console.log(`$ ${command}`);
const begun = Date.now();
let log = '';
const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
for (const stream of [child.stdout, child.stderr]) {
  stream.on('data', (part) => {
    process.stdout.write(part);
    log = `${log}${part}`.slice(-LOG_LENGTH_MAX);
  });
}
const exitCode = await new Promise((ended) => child.once('close', ended));

const result = { run, check, commandDigest, exitCode, timedOut: false, durationMs: Date.now() - begun, log };
// A token lives for minutes, and a command may take longer.
headers.authorization = `Bearer ${await jobToken()}`;
const { grade, remark } = await answered(
  await fetch(address, { method: 'POST', headers, body: JSON.stringify(result) }),
);
console.log(grade === undefined ? `The check does not count: ${remark}.` : `The check is ${grade}.`);
process.exitCode = grade === undefined ? 1 : 0;
