import { describe, expect, it } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { DAMAGED, HEALTHY, SALVAGED, WITHOUT_CONTENT } from '../../../test/examples/audits.ts';
import { OTHER_SESSION, SESSION } from '../../../test/examples/ids.ts';
import type { AuditFinding, SessionAudit } from '../../app/ports/upkeep.ts';
import { AUDIT_FINDING_KINDS, DAMAGE_REASONS } from '../../core/log/health.ts';
import { SessionId } from '../../core/log/ids.ts';

/** Without the line about what such a check cannot find, which has a test of its own. */
const verify = async (audits: readonly SessionAudit[], ...args: string[]) => {
  const ran = await runFake({ argv: ['session', 'verify', ...args], audits });
  return { ...ran, out: ran.out.replace(/^Checked: the hash chain.*\n/m, '') };
};

describe('the report of a check', () => {
  it('session verify reports damaged content once, with the sessions that use it', async () => {
    const both = [WITHOUT_CONTENT, { ...WITHOUT_CONTENT, sessionId: OTHER_SESSION }];
    const { exitCode, out, talk } = await verify(both);
    const content = `✗ snapshots/ab.json has changed since it was written; needed by ${SESSION}, ${OTHER_SESSION}\n`;
    const totals = '2 sessions checked in /data/workrail, 2 damaged: 106 events, 80.4 kB\n';
    expect([exitCode, out]).toEqual([4, content + totals]);
    expect(talk).toMatch(/^STORE_CORRUPT: 1 file is damaged or missing; 2 of 2 sessions need it\.\n/);
    const named = [SESSION, OTHER_SESSION].map(
      (id) => `✗ ${id}  lacks content that it needs: 53 events, 40.2 kB\n    not signed: only accidents were checked\n`,
    );
    expect((await verify(both, '--verbose')).out).toBe(named.join('') + content + totals);
  });

  it('session verify marks a partial session and does not call it healthy', async () => {
    const part = `– ${SESSION}  salvaged, read-only part of a session: 53 events, 40.2 kB\n    note  sessions/x/salvaged marks this as only part of a session, which can be read and exported but not continued\n`;
    expect(await verify([SALVAGED, { ...HEALTHY, sessionId: OTHER_SESSION }])).toMatchObject({
      exitCode: 0,
      out: `${part}2 sessions checked in /data/workrail, 1 salvaged, the others healthy: 106 events, 80.4 kB\n`,
    });
    expect((await verify([SALVAGED])).out).toBe(
      `${part}1 session checked in /data/workrail, 1 salvaged, none damaged: 53 events, 40.2 kB\n`,
    );
    expect((await verify([SALVAGED, DAMAGED])).exitCode).toBe(4);
    expect(JSON.parse((await verify([SALVAGED], '--json')).out)).toMatchObject({
      data: { sessions: [{ health: SALVAGED.health }], totals: { damaged: 0 } },
    });
  });

  it('session verify reports what interrupted writes left in one line', async () => {
    const left = (name: string, what: AuditFinding['what']): AuditFinding => ({
      severity: 'note',
      what,
      place: `sessions/x/events/${name}`,
    });
    const findings = [
      left('1-2.jsonl', 'orphan_segment'),
      left('.3-4.jsonl.ab.tmp', 'leftover_file'),
      left('x', 'leftover_file'),
    ];
    const { out } = await verify([{ ...HEALTHY, findings }]);
    expect(out.split('\n').slice(1, 3)).toEqual([
      '    note  sessions/x/events/x does not belong to the session, so it is ignored',
      '    note  In sessions/x/events, 2 files are left from interrupted writes; after an hour the next write to the session or gc removes them',
    ]);
  });

  it('session verify promises to remove nothing of a damaged session, whose events may be in files that no record names', async () => {
    const at = 'sessions/y/events';
    const left = (name: string, what: AuditFinding['what']): AuditFinding => ({
      severity: 'note',
      what,
      place: `${at}/${name}`,
    });
    const segments = ['0-9.jsonl', '10-12.jsonl'].map((name) => left(name, 'orphan_segment'));
    const pieces = ['.1.tmp', '.2.tmp'].map((name) => left(name, 'leftover_file'));
    const notesOf = async (damage: AuditFinding, ...notes: readonly AuditFinding[]) => {
      const { out } = await verify([{ ...DAMAGED, findings: [damage, ...notes] }]);
      return out.split('\n').filter((line) => line.startsWith('    note  '));
    };
    const manifest = {
      severity: 'damage',
      what: 'session_damaged',
      place: 'sessions/y/manifest.jsonl',
      reason: 'manifest_cut_short',
    } as const;
    const segment = { ...manifest, place: `${at}/3.jsonl`, reason: 'segment_missing' } as const;
    const lost = 'not in the readable part of the manifest';
    expect(await notesOf(manifest, ...segments, ...pieces)).toEqual([
      `    note  In ${at}, 2 files are ${lost}; they may hold events of the session, so keep them`,
      `    note  In ${at}, 2 files are left from interrupted writes; they stay until the session is repaired or deleted`,
    ]);
    expect(await notesOf(manifest, ...segments.slice(0, 1))).toEqual([
      `    note  ${at}/0-9.jsonl is ${lost}; it may hold events of the session, so keep it`,
    ]);
    expect(await notesOf(segment, ...segments)).toEqual([
      `    note  In ${at}, 2 files are left from interrupted writes; they stay until the session is repaired or deleted`,
    ]);
    expect(await notesOf(segment, ...segments.slice(0, 1))).toEqual([
      `    note  ${at}/0-9.jsonl is left from an interrupted write; it stays until the session is repaired or deleted`,
    ]);
  });

  it('session verify names only some of many sessions that use the same content', async () => {
    const many = Array.from({ length: 9 }, (_, i) => ({
      ...WITHOUT_CONTENT,
      sessionId: SessionId.of(Buffer.alloc(10, i)),
    }));
    expect((await verify(many)).out).toMatch(/needed by (?:sess_\w+, ){4}sess_\w+ and 4 more\n9 sessions checked/);
  });

  it('session verify has words for every kind of finding', async () => {
    const place = 'sessions/y/x';
    const told = async (finding: AuditFinding) => {
      const { out } = await verify([{ ...DAMAGED, findings: [finding] }]);
      return /sessions\/y\/x (.+)\n/.exec(out)?.[1] ?? expect.fail(out);
    };
    const damage = { severity: 'damage', what: 'session_damaged', place } as const;
    const words = [
      ...(await Promise.all(DAMAGE_REASONS.map((reason) => told({ ...damage, reason })))),
      ...(await Promise.all(
        AUDIT_FINDING_KINDS.map((what) => told({ ...damage, what, reason: 'segment_wrong_events', code: 'EIO' })),
      )),
    ];
    expect(words.filter((text) => /undefined|_/.test(text.replace('version undefined', '')))).toEqual([]);
    expect(new Set(words).size).toBeGreaterThan(20);
  });
});
