import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { given, partsAt, TOKENS } from '../../../test/examples/replies.ts';
import { PLAIN } from '../../../test/examples/reply-situations.ts';
import { RISK_POLICY, type RiskPolicy } from '../log/autonomy.ts';
import { stepIdSchema } from '../log/ids.ts';
import { hole } from '../log/operation/stored-reply.ts';
import { stepReply } from './reply/step-reply.ts';
import { replyWarning } from './reply-warnings.ts';
import { REPLY_WARNING_CODES, type WarningFact } from './warning-facts.ts';

const nextCall = {
  tool: 'start_workflow',
  arguments: { workflowId: 'wr.x', attachTo: hole('stateToken'), goal: 'Go' },
};

const FACTS = {
  note_cut: { code: 'note_cut' },
  replay_ignored_new_output: { code: 'replay_ignored_new_output' },
  unset_value: { code: 'unset_value', names: ['a', 'b.c'] },
  text_cut: { code: 'text_cut', parts: ['a'] },
  unknown_artifact_kind: { code: 'unknown_artifact_kind', kinds: ['wr.loopcontrol'] },
  unreadable_artifact: { code: 'unreadable_artifact', message: 'An artifact without "kind" was sent.' },
  capability_degraded: { code: 'capability_degraded', capability: 'web_browsing' },
  exceeds_recommended_autonomy: {
    code: 'exceeds_recommended_autonomy',
    recommended: 'guided',
    effective: 'full_auto_never_stop',
  },
  exceeds_recommended_risk_policy: {
    code: 'exceeds_recommended_risk_policy',
    recommended: 'conservative',
    effective: 'aggressive',
  },
  workflow_changed: { code: 'workflow_changed', workflowId: 'wr.x', nextCall },
  secret_in_context: { code: 'secret_in_context', keys: ['dbPassword'] },
  person_value_ignored: { code: 'person_value_ignored', keys: ['approved'] },
  work_below: { code: 'work_below', stateToken: 'st_x' },
  session_damaged: { code: 'session_damaged', sessionIds: ['sess_a'] },
  workflow_gone: { code: 'workflow_gone', workflowId: 'wr.x' },
  reference_unresolved: { code: 'reference_unresolved', titles: ['Guide'] },
  reference_outside: { code: 'reference_outside', titles: ['Guide'] },
  legacy_id: { code: 'legacy_id', workflowId: 'old', suggestedId: 'project.old' },
  renamed_id: { code: 'renamed_id', workflowId: 'bug-hunt', canonicalId: 'wr.bug_hunt' },
  skipped_for_unset_value: {
    code: 'skipped_for_unset_value',
    skipped: [
      { stepId: stepIdSchema.parse('deep'), keys: ['risk', 'team.lead'], context: { risk: 'high' } },
      { stepId: stepIdSchema.parse('wide'), keys: ['risk'], context: { risk: 'low' } },
    ],
    again: hole('againToken'),
  },
  run_closed: { code: 'run_closed', isReopened: false },
  notes_characters: { code: 'notes_characters', found: ['half_character', 'nul'] },
  blank_left_out: { code: 'blank_left_out', units: ['`output.notesMarkdown`', 'context "size"'] },
  mode_capped: {
    code: 'mode_capped',
    asked: 'full_auto_never_stop',
    effective: 'guided',
    cause: 'autonomy.max (/home/ada/.workrail/config.json)',
  },
  approvers_missing: { code: 'approvers_missing', known: 1, needed: 2 },
  setting_ignored: {
    code: 'setting_ignored',
    settings: [
      {
        key: 'mode',
        value: 'full_auto_never_stop',
        origin: { kind: 'workspace', file: '/repo/.workrail/config.json' },
        kept: { value: 'guided', origin: { kind: 'default' } },
      },
    ],
  },
  workflow_overrides: {
    code: 'workflow_overrides',
    used: '/repo/.workrail/workflows/review.json',
    paths: ['/home/ada/.workrail/workflows/review.json'],
  },
  workflow_file_problem: {
    code: 'workflow_file_problem',
    path: '/repo/.workrail/workflows/review.json',
    problems: ['Line 4: Unknown key "titel" (ignored). Did you mean "title"?'],
  },
  other_workspace: { code: 'other_workspace', root: '/work/shop', own: '/work/shop-two' },
  workspace_not_used: {
    code: 'workspace_not_used',
    problem: { path: 'repo', reason: { code: 'not_absolute' } },
  },
} as const satisfies { readonly [code in WarningFact['code']]: WarningFact & { readonly code: code } };

const words = (policy: RiskPolicy) => Object.values(FACTS).map((fact) => replyWarning(fact, policy));

describe('a warning', () => {
  test('a warning has words for everything there is to warn about', () => {
    // The question to a person is reported by the server, not by the engine.
    const reported = [...Object.keys(FACTS), 'person_asked'];
    expect(reported.sort()).toEqual([...REPLY_WARNING_CODES].sort());
    expect(words('balanced').map(({ code, message }) => [code, message])).toMatchInlineSnapshot(`
      [
        [
          "note_cut",
          "Your notes are longer than 65536 bytes; only the beginning was stored. Write shorter notes, or send the rest with the next step.",
        ],
        [
          "replay_ignored_new_output",
          "This token was already used with other content. What you sent now was not recorded.",
        ],
        [
          "unset_value",
          "The prompt uses values that are not in context: a, b.c. Find these values, for example in earlier notes, and send them in "context" with the next call.",
        ],
        [
          "text_cut",
          "Too long to show in full: a. A text that was cut ends in [TRUNCATED].",
        ],
        [
          "unknown_artifact_kind",
          "Unknown artifact kind "wr.loopcontrol". It is stored but meets no requirement. Check the spelling of "kind".",
        ],
        [
          "unreadable_artifact",
          "An artifact without "kind" was sent.",
        ],
        [
          "capability_degraded",
          "You cannot browse the web here, so do the work without it.",
        ],
        [
          "exceeds_recommended_autonomy",
          "The mode is full_auto_never_stop; this workflow recommends a more cautious one, guided. Tell the user if it affects the result.",
        ],
        [
          "exceeds_recommended_risk_policy",
          "The risk policy is aggressive; this workflow recommends a more cautious one, conservative. Tell the user if it affects the result.",
        ],
        [
          "workflow_changed",
          "The file of wr.x changed after this run started. The run continues with the version it started with. To switch, start the new version:",
        ],
        [
          "secret_in_context",
          "These context values look like secrets: "dbPassword". They are stored as plain text. Do not send secrets: put them where your tools read them, such as an environment variable, and set these keys to null. Tell the user to replace any real secret.",
        ],
        [
          "person_value_ignored",
          "Only a person may set "approved", so the value you sent was ignored. What the person answers is used.",
        ],
        [
          "work_below",
          "An earlier report of this step was blocked; what you sent with it is kept. To continue from there and send only what is missing:",
        ],
        [
          "session_damaged",
          "Session sess_a cannot be read and was left out. This command shows why: workrail session verify sess_a",
        ],
        [
          "workflow_gone",
          "The file of wr.x no longer exists. The run continues with the version it started with.",
        ],
        [
          "reference_unresolved",
          "This document of the workflow cannot be found on this machine: "Guide". Continue without it, or ask the user for it.",
        ],
        [
          "reference_outside",
          "This document of the workflow is outside the workspace: "Guide". Somebody else wrote this workflow; ask the user before you read or follow it.",
        ],
        [
          "legacy_id",
          "The id "old" has no namespace. It still works; rename it to "project.old" when you can.",
        ],
        [
          "renamed_id",
          ""bug-hunt" is now called "wr.bug_hunt". The old id still works; use the new one.",
        ],
        [
          "skipped_for_unset_value",
          "Skipped because context does not have "risk", "team.lead": deep, wide. To run those steps, send your last output again with the right values:",
        ],
        [
          "run_closed",
          "The user has closed this run. Do its step only if the user asks for it; that reopens the run.",
        ],
        [
          "notes_characters",
          "Your notes contain halves of characters (lone surrogates), which cannot be stored; each was replaced by "�". Check the text you copied. Your notes contain the character NUL. It is stored, but shown as an escape. Leave it out next time.",
        ],
        [
          "blank_left_out",
          "Not filled in, so it was left out: \`output.notesMarkdown\`, context "size". It is optional: send it filled in with the next call, or leave it out.",
        ],
        [
          "mode_capped",
          "The mode is guided, not full_auto_never_stop: autonomy.max (/home/ada/.workrail/config.json) allows no more. Only the user can change that.",
        ],
        [
          "approvers_missing",
          "A step of this run needs the signature of two approvers, and only one can sign. Tell the user now: the key of an approver is added with \`workrail approvers add\`, and a key that is added later counts only for runs that start after it.",
        ],
        [
          "setting_ignored",
          "/repo/.workrail/config.json sets mode to full_auto_never_stop, which is looser than guided (default). It is ignored. Tell the user.",
        ],
        [
          "workflow_overrides",
          "This workflow comes from /repo/.workrail/workflows/review.json and overrides /home/ada/.workrail/workflows/review.json. Tell the user if that is not expected.",
        ],
        [
          "workflow_file_problem",
          "/repo/.workrail/workflows/review.json has parts without effect. Line 4: Unknown key "titel" (ignored). Did you mean "title"? Tell the user.",
        ],
        [
          "other_workspace",
          "attachTo joined a session that works in "/work/shop": the checks of this run run there, and its approvals are about the files there. To work in "/work/shop-two", call start_workflow again without attachTo, and do not continue this run.",
        ],
        [
          "workspace_not_used",
          "workspacePath was not used: "repo" is not an absolute path. Send the full path of the project folder. Only the bundled workflows and the user's own were searched.",
        ],
      ]
    `);
  });

  test('a warning names what it is about, also as data, and a long list is cut short', () => {
    const names = Array.from({ length: 25 }, (_, i) => `n${i}`);
    const { message, details } = replyWarning({ code: 'unset_value', names }, 'balanced');
    expect(message).toContain('n19 and 5 more.');
    expect(details).toEqual({ names });
    const kind = `${'x'.repeat(100)}\n---`;
    expect(replyWarning({ code: 'unknown_artifact_kind', kinds: [kind] }, 'balanced').message).toContain(
      `"${'x'.repeat(64)}…"`,
    );
  });

  test('a warning differs in advice only between risk policies', () => {
    enforces('risk_policy_guardrails');
    const facts = RISK_POLICY.map((policy) => words(policy).map(({ message: _, ...rest }) => rest));
    expect(facts).toEqual([facts[0], facts[0], facts[0]]);
    const advice = RISK_POLICY.map((policy) => replyWarning(FACTS.exceeds_recommended_autonomy, policy).message);
    expect(advice).toEqual([
      'The mode is full_auto_never_stop; this workflow recommends a more cautious one, guided. Tell the user.',
      'The mode is full_auto_never_stop; this workflow recommends a more cautious one, guided. Tell the user if it affects the result.',
      'The mode is full_auto_never_stop; this workflow recommends a more cautious one, guided.',
    ]);
  });

  test('a warning is the same in text and data, once, with the call it suggests', () => {
    const changed = replyWarning(FACTS.workflow_changed, 'balanced');
    const { text, structured } = given(stepReply({ ...partsAt(PLAIN), warnings: [changed, changed] }));
    const call = { workflowId: 'wr.x', attachTo: TOKENS.stateToken, goal: 'Go' };
    expect(structured['warnings']).toEqual([
      {
        code: 'workflow_changed',
        message: changed.message,
        suggestedCall: { tool: 'start_workflow', arguments: call },
      },
    ]);
    expect(text).toContain(`Warning: ${changed.message} start_workflow ${JSON.stringify(call)}\n`);
  });
});

test('a context too long for a suggested call is named in its place', () => {
  const context = { notes: 'x'.repeat(5_000), 'odd\nkey': 1 };
  const call = { tool: 'start_workflow', arguments: { workflowId: 'wr.x', attachTo: 'st_x', goal: 'Go', context } };
  const { message, suggestedCall } = replyWarning({ ...FACTS.workflow_changed, nextCall: call }, 'balanced');
  expect(message).toMatch(/start the new version, with the context you still need of "notes", "odd\\nkey":$/);
  expect(suggestedCall?.arguments).toEqual({ workflowId: 'wr.x', attachTo: 'st_x', goal: 'Go' });
});
