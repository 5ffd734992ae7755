import { describe, expect, it } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { defaultWorkspace, type WorkspaceHints } from './client-root.ts';

const hints = { workingDir: '/work/repo', homeDir: '/home/ada' };

describe('the workspace of a call', () => {
  it.each<[Partial<WorkspaceHints>, string | undefined]>([
    [{ argument: '/given', root: '/told' }, '/given'],
    [{ argument: ' ', root: '/told' }, '/told'],
    [{ argument: '/home/ada' }, '/home/ada'],
    [{}, '/work/repo'],
    [{ workingDir: '/' }, undefined],
    [{ workingDir: '/home/ada' }, undefined],
    [{ workingDir: '/home/ada/' }, undefined],
    [{ workingDir: '/home/ada/repo' }, '/home/ada/repo'],
    [{ workingDir: 'C:\\', homeDir: 'C:\\Users\\ada' }, undefined],
    [{ workingDir: '/', root: '/told' }, '/told'],
  ])('the workspace for %j is %s', (given, workspace) => {
    enforces('default_workspace');
    expect(defaultWorkspace({ ...hints, ...given })).toBe(workspace);
  });
});
