import { expect, it } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { isLocalRequest } from './local-requests.ts';

const PORT = 7433;

it.each<readonly [host: string | undefined, origin: string | undefined, isLocal: boolean]>([
  ['127.0.0.1:7433', undefined, true],
  ['localhost:7433', undefined, true],
  ['LOCALHOST:7433', undefined, true],
  ['[::1]:7433', undefined, true],
  ['127.0.0.1:7433', 'http://127.0.0.1:7433', true],
  ['127.0.0.1:7433', 'http://localhost:7433', true],
  [undefined, undefined, false],
  ['', undefined, false],
  ['127.0.0.1', undefined, false],
  ['127.0.0.1:80', undefined, false],
  ['evil.example', undefined, false],
  ['evil.example:7433', undefined, false],
  ['localhost.evil.example:7433', undefined, false],
  ['127.0.0.1:7433@evil.example', undefined, false],
  ['0.0.0.0:7433', undefined, false],
  ['192.168.0.7:7433', undefined, false],
  ['127.0.0.1:7433', 'http://evil.example', false],
  ['127.0.0.1:7433', 'http://evil.example:7433', false],
  ['127.0.0.1:7433', 'https://127.0.0.1:7433', false],
  ['127.0.0.1:7433', 'http://127.0.0.1:3000', false],
  ['127.0.0.1:7433', 'http://127.0.0.1:743', false],
  ['127.0.0.1:7433', 'http://127.0.0.1:74331', false],
  ['127.0.0.1:7433', 'http://127.0.0.1', false],
  ['127.0.0.1:7433', 'http://127.0.0.1:7433.evil.example', false],
  ['127.0.0.1:743', undefined, false],
  ['127.0.0.1:74331', undefined, false],
  ['127.0.0.1:7433', 'null', false],
  ['127.0.0.1:7433', '', false],
  ['evil.example:7433', 'http://127.0.0.1:7433', false],
])('a request for host %j from origin %j is accepted: %j', (host, origin, isLocal) => {
  enforces('http_host_and_origin_checked');
  expect(isLocalRequest({ host, origin }, PORT)).toBe(isLocal);
});
