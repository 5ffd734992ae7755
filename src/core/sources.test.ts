import { describe, expect, it } from 'vitest';
import { isRefName, parseSourceAddress, suggestSourceName, workflowSourceEntrySchema } from './sources.ts';

describe('the address of a source', () => {
  it.each([
    ['https://example.org/team/flows.git', { kind: 'git', url: 'https://example.org/team/flows.git' }],
    ['ssh://git@example.org:2222/team/flows', { kind: 'git', url: 'ssh://git@example.org:2222/team/flows' }],
    ['git@example.org:team/flows.git', { kind: 'git', url: 'git@example.org:team/flows.git' }],
    ['file:///srv/flows.git', { kind: 'git', url: 'file:///srv/flows.git' }],
    ['/srv/flows.git', { kind: 'git', url: '/srv/flows.git', isPath: true }],
    ['/srv/flows', { kind: 'folder', path: '/srv/flows' }],
    ['./me@work/flows.git', { kind: 'git', url: './me@work/flows.git', isPath: true }],
    ['C:\\flows.git', { kind: 'git', url: 'C:\\flows.git', isPath: true }],
    ['npm:@acme/flows', { kind: 'package', package: '@acme/flows' }],
  ])('%s is understood by how it is written', (address, expected) => {
    expect(parseSourceAddress(address)._unsafeUnwrap()).toEqual(expected);
  });

  it.each([
    ['--upload-pack=touch /tmp/x', 'option'],
    ['ext::sh -c touch% /tmp/x', 'protocol'],
    ['fd::7', 'protocol'],
    ['http://example.org/flows.git', 'insecure'],
    ['git://example.org/flows.git', 'insecure'],
    ['ftp://example.org/flows.git', 'protocol'],
    ['ssh://-oProxyCommand=x/flows', 'option'],
    ['https://user:secret@example.org/flows.git', 'secret'],
    ['file://host/flows', 'form'],
    ['npm:../evil', 'form'],
    ['user@-oProxyCommand=touch% /tmp/x:flows.git', 'option'],
    ['user@-oProxyCommand=x:flows', 'option'],
    ['-oProxyCommand=x@host:flows.git', 'option'],
    ['git@host:-flows.git', 'option'],
    ['us er@host:flows.git', 'form'],
    ['https://-host/flows.git', 'option'],
    ['ssh://git@-oProxyCommand=x/flows', 'option'],
    ['https://example.org/a\u0000b', 'form'],
    [' /srv/flows', 'form'],
    ['', 'form'],
  ])('the source address %s is refused with the reason', (address, reason) => {
    const shown = address.replace(/:[^/]*@/, ':***@');
    expect(parseSourceAddress(address)._unsafeUnwrapErr()).toEqual({ code: 'address_refused', address: shown, reason });
  });

  it('a list of sources cannot contain an address that would be refused', () => {
    const entry = (url: string) => ({ kind: 'git', name: 'a', url, commit: '0'.repeat(40), folder: 'workflows' });
    const isAccepted = (url: string) => workflowSourceEntrySchema.safeParse(entry(url)).success;
    expect(['https://example.org/a.git', 'git@example.org:a.git', '/srv/flows.git'].filter(isAccepted)).toHaveLength(3);
    expect(['user@-oProxyCommand=x:flows.git', '--upload-pack=x', 'ext::sh', 'flows.git'].filter(isAccepted)).toEqual(
      [],
    );
    const pack = { kind: 'package', name: 'a', package: '../../evil', from: '/srv' };
    expect(workflowSourceEntrySchema.safeParse(pack).success).toBe(false);
  });

  it('never takes an option or an expression for a branch', () => {
    expect(['main', 'release/1.2', 'v1.0.0'].filter(isRefName)).toHaveLength(3);
    expect(['-x', '--upload-pack=x', 'a..b', 'a b', 'HEAD@{1}', '', 'x.lock', 'a:b'].filter(isRefName)).toEqual([]);
  });

  it('gives a name that can be typed', () => {
    expect(suggestSourceName('git@example.org:Team/My Flows.git')).toBe('my-flows');
    expect(suggestSourceName('npm:@acme/flows')).toBe('flows');
    expect(suggestSourceName('///')).toBe('source');
  });
});
