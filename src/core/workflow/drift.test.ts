import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import type { Sha256 } from '../json/canonical-json.ts';
import { driftOf, sourceHash } from './drift.ts';

const sha256: Sha256 = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const origin = {
  text: '{"id":"project.x","steps":[1]}',
  routines: new Map([['project.templates.routine.r', '{"id":"project.r"}']]),
  slotIds: ['lint', 'build'],
  bindings: { build: 'make' },
};
const before = sourceHash(origin, sha256);
const pinned = { workflowId: 'project.x', workflowHash: 'sha256:pin', sourceHash: before };
const restart = { attachTo: 'st_token', goal: 'Ship it', context: { size: 'large' } };

describe('the digest of an origin', () => {
  it('the source hash changes with every value of the file, its routines and the bindings it uses', () => {
    enforces('pinned_drift_warned');
    const changed = [
      { ...origin, text: '{"id":"project.x","steps":[2]}' },
      { ...origin, text: '{"id":"project.x","steps":["1"]}' },
      { ...origin, text: '{"id":"project.x","steps":[1],"$comment":""}' },
      { ...origin, text: 'not JSON any more' },
      { ...origin, routines: new Map([['project.templates.routine.r', '{"id":"project.s"}']]) },
      { ...origin, routines: new Map([['project.templates.routine.s', '{"id":"project.r"}']]) },
      { ...origin, routines: new Map<string, string>() },
      { ...origin, bindings: {} },
      { ...origin, bindings: { build: 'gradle' } },
      { ...origin, bindings: { build: 'make', lint: 'biome' } },
    ].map((one) => sourceHash(one, sha256));
    expect(new Set([before, ...changed]).size).toBe(11);
  });

  it('the source hash ignores line endings, indentation and key order', () => {
    enforces('pinned_drift_warned');
    const pretty = JSON.stringify({ steps: [1], id: 'project.x' }, null, 2);
    const windows = pretty.replaceAll('\n', '\r\n');
    expect(windows).not.toBe(pretty);
    for (const text of [pretty, windows, `${origin.text}\n`])
      expect(sourceHash({ ...origin, text }, sha256)).toBe(before);
    const routines = new Map([['project.templates.routine.r', '{\r\n"id": "project.r"\r\n}']]);
    expect(sourceHash({ ...origin, routines }, sha256)).toBe(before);
  });

  it('the source hash ignores bindings of other workflows and the order of inputs', () => {
    const bindings = { deploy: 'push', build: 'make' };
    expect(sourceHash({ ...origin, bindings }, sha256)).toBe(before);
    expect(sourceHash({ ...origin, slotIds: ['build', 'lint'] }, sha256)).toBe(before);
    expect(sourceHash({ ...origin, slotIds: ['lint', 'build', 'toString'] }, sha256)).toBe(before);
  });
});

describe('drift of a run from its origin', () => {
  it('a run has no drift while its source and bindings are unchanged, whatever compiles them', () => {
    enforces('pinned_drift_warned');
    expect(driftOf(pinned, before, restart)).toEqual({ kind: 'same' });
    expect(driftOf({ ...pinned, workflowHash: 'sha256:older' }, before, restart)).toEqual({ kind: 'same' });
  });

  it('a changed source is reported with the call that starts the new version in the same session', () => {
    enforces('pinned_drift_warned');
    const now = sourceHash({ ...origin, text: '{}' }, sha256);
    expect(driftOf(pinned, now, restart)).toEqual({
      kind: 'changed',
      workflowId: 'project.x',
      workflowHash: 'sha256:pin',
      pinnedSourceHash: before,
      currentSourceHash: now,
      nextCall: {
        tool: 'start_workflow',
        arguments: { workflowId: 'project.x', attachTo: 'st_token', goal: 'Ship it', context: { size: 'large' } },
      },
    });
    expect(driftOf(pinned, now, { attachTo: 'st_token', context: {} })).toMatchObject({
      nextCall: { tool: 'start_workflow', arguments: { workflowId: 'project.x', attachTo: 'st_token' } },
    });
  });

  it('a missing source is reported, and no drift is claimed for a run without a recorded hash', () => {
    expect(driftOf(pinned, undefined, restart)).toEqual({
      kind: 'gone',
      workflowId: 'project.x',
      workflowHash: 'sha256:pin',
    });
    const { sourceHash: _, ...old } = pinned;
    expect(driftOf(old, before, restart)).toEqual({ kind: 'unknown' });
  });
});
