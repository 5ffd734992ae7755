import type { EventKind } from '../../src/core/log/event.ts';

/** What the reference says of one kind of event beside its fields. */
type EventText = {
  readonly purpose: string;
  /** What stands behind kind and session id in the dedupe key, with paths into the event in braces. */
  readonly keyRecipe: readonly string[];
  /** What the parts of the key are that no field shows. */
  readonly keyNote?: string;
  readonly example: {
    readonly scope?: object;
    readonly data: object;
    /** Parts of the key that the event itself does not hold. */
    readonly keyOnly?: object;
  };
};

export const EXAMPLE_SESSION = 'sess_01jd3m6k2v8q4w7x';
export const EXAMPLE_AT = 1_763_200_000_000;

const runId = 'run_4t9c2xk7m1ebqz0r';
const rootId = 'node_7h2nq5w8d3kvf1ym';
const nextId = 'node_c6p0z4s9j2xtb8ge';
const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const run = { runId };
const root = { runId, nodeId: rootId };
const next = { runId, nodeId: nextId };

/** Exhaustive by type: a new kind of event does not compile without its words. */
export const EVENT_TEXTS: { readonly [kind in EventKind]: EventText } = {
  session_created: {
    purpose:
      'The first event of every session. It says that the session exists; what it is about is derived from the rest.',
    keyRecipe: [],
    example: { data: {} },
  },
  observation_recorded: {
    purpose:
      'A fact about the workspace, such as the branch, by which a later chat finds the session again. Gathered when a run starts and at checkpoints, recorded when it has changed.',
    keyRecipe: ['{keyOnly.observedFor}', '{data.key}', '{keyOnly.valueDigest}'],
    keyNote:
      '`observedFor` is the node of the operation that looked, so a branch can be left and come back to; `valueDigest` is the hex digest of the value',
    example: {
      data: { key: 'git_branch', value: { type: 'short_string', value: 'fix-login' }, confidence: 'high' },
      keyOnly: { observedFor: rootId, valueDigest: 'a'.repeat(64) },
    },
  },
  run_started: {
    purpose:
      'Opens a run of a workflow and pins it: the run goes on with the workflow of this hash, whatever becomes of the file.',
    keyRecipe: ['{scope.runId}'],
    example: {
      scope: run,
      data: {
        workflowId: 'wr.bug-investigation',
        workflowHash: digest('b'),
        workflowSourceKind: 'bundled',
        workflowSourceRef: 'wr.bug-investigation',
      },
    },
  },
  node_created: {
    purpose:
      'A place in the run that a token can name, with the snapshot to go on from. A `step` is reached by advancing, a `checkpoint` keeps output in between, a `blocked_attempt` keeps what was sent when the run could not go on.',
    keyRecipe: ['{scope.runId}', '{scope.nodeId}'],
    example: {
      scope: root,
      data: { nodeKind: 'step', parentNodeId: null, workflowHash: digest('b'), snapshotRef: digest('c') },
    },
  },
  edge_created: {
    purpose:
      'Joins a node to the one it led to. A fork is an ordinary edge whose cause is `non_tip_advance`: its source already had a step behind it.',
    keyRecipe: ['{scope.runId}', '{data.fromNodeId}->{data.toNodeId}', '{data.edgeKind}'],
    example: {
      scope: run,
      data: {
        edgeKind: 'acked_step',
        fromNodeId: rootId,
        toNodeId: nextId,
        cause: { kind: 'tip_advance', eventId: 'evt_9k3d7r1m5xwt2b8h' },
      },
    },
  },
  advance_recorded: {
    purpose:
      'The outcome of one try at a node, with the reply as it was given. Sending the same call again returns that reply and records nothing.',
    keyRecipe: ['{scope.nodeId}', '{data.attemptId}'],
    example: {
      scope: root,
      data: {
        attemptId: 0,
        intent: 'ack_pending',
        outcome: { kind: 'advanced', toNodeId: nextId },
        reply: {
          text: ['Write the test that fails.\n\nstateToken: ', { $hole: 'stateToken' }],
          structured: { kind: 'ok', stateToken: { $hole: 'stateToken' } },
        },
        requestDigest: digest('d'),
      },
    },
  },
  node_output_appended: {
    purpose:
      'What the agent handed in: a note, or a reference to an artifact whose bytes lie in the artifact store. A correction is a further output that supersedes an earlier one.',
    keyRecipe: ['{data.outputId}'],
    example: {
      scope: next,
      data: {
        outputId: 'out_2m8x5c1q7ktz4d9v',
        outputChannel: 'recap',
        payload: { payloadKind: 'notes', notesMarkdown: 'The session expires before the redirect.' },
      },
    },
  },
  preferences_changed: {
    purpose:
      'How far the agent may go alone, from this node on. `effective` is what holds after the change; a warning says that it goes beyond what the workflow recommends.',
    keyRecipe: ['{data.changeId}'],
    example: {
      scope: root,
      data: {
        changeId: 'prefchg_6w1t9h3b7nxk5c2p',
        source: 'user',
        delta: [{ key: 'autonomy', value: 'guided' }],
        effective: { autonomy: 'guided', riskPolicy: 'conservative' },
      },
    },
  },
  capability_observed: {
    purpose:
      'One observation of what the agent can do. A probe or a real attempt is strong; what an agent merely says is weak and never unlocks a step.',
    keyRecipe: ['{data.capObsId}'],
    example: {
      scope: next,
      data: {
        capObsId: 'capobs_1z5k8q2w6m9xt3dr',
        capability: 'delegation',
        status: 'available',
        provenance: {
          kind: 'attempted_use',
          enforcementGrade: 'strong',
          detail: { attemptContext: 'workflow_step', result: 'success' },
        },
      },
    },
  },
  gap_recorded: {
    purpose:
      'Something that was skipped or assumed because the mode does not stop. It is never changed; a later record on the same line may resolve it, and the final reply lists those still open.',
    keyRecipe: ['{data.gapId}'],
    example: {
      scope: next,
      data: {
        gapId: 'gap_3x7d1m9k5tqw2c8z',
        severity: 'critical',
        reason: { category: 'contract_violation', detail: 'missing_required_output' },
        summary: 'The step asked for findings and none came.',
        resolution: { kind: 'unresolved' },
      },
    },
  },
  divergence_recorded: {
    purpose: 'The agent left the instructions on purpose and said why.',
    keyRecipe: ['{data.divergenceId}'],
    example: {
      scope: next,
      data: {
        divergenceId: 'div_8c2w6t0k4x9m1qzd',
        reason: 'efficiency_skip',
        summary: 'The module has two files, so both were read in full.',
        relatedStepId: 'survey',
      },
    },
  },
  decision_trace_appended: {
    purpose: 'Why the engine chose as it did, for people who look later. No decision reads it.',
    keyRecipe: ['{data.traceId}'],
    example: {
      scope: next,
      data: {
        traceId: 'trace_5q9m3k7x1w8t2cdz',
        entries: [
          {
            kind: 'selected_next_step',
            summary: 'The next step in order.',
            refs: [{ kind: 'step_id', stepId: 'reproduce' }],
          },
        ],
      },
    },
  },
  context_set: {
    purpose:
      'What changed in the context of a node. Its keys replace those of the nodes above, null takes a key away; another branch does not see it.',
    keyRecipe: ['{data.contextId}'],
    example: {
      scope: root,
      data: { contextId: 'ctx_0d4h8m2q6w1t5x9z', context: { goal: 'Fix the login' }, source: 'initial' },
    },
  },
  step_skipped: {
    purpose: 'A step whose condition did not hold. It does not come back on that line.',
    keyRecipe: ['{scope.nodeId}', '{keyOnly.ordinal}'],
    keyNote: '`ordinal` counts the steps that were skipped on the way to the node, from 0',
    example: {
      scope: next,
      data: { stepId: 'migrate', conditionId: 'has-schema-change', loopPath: [] },
      keyOnly: { ordinal: 0 },
    },
  },
};
