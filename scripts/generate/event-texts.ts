import type { EventKind } from '../../src/core/log/event.ts';

/** What the reference page says about one kind of event, besides its fields. */
type EventText = {
  readonly purpose: string;
  /** What follows kind and session id in the dedupe key, with paths into the event in braces. */
  readonly keyRecipe: readonly string[];
  /** Explains the parts of the key that are not fields. */
  readonly keyNote?: string;
  readonly example: {
    readonly scope?: object;
    readonly data: object;
    /** Parts of the key that the event itself does not contain. */
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

/** Exhaustive by type: a new kind of event does not compile without its text. */
export const EVENT_TEXTS: { readonly [kind in EventKind]: EventText } = {
  session_created: {
    purpose:
      'The first event of every session. It only says that the session exists; everything else is derived from later events.',
    keyRecipe: [],
    example: { data: {} },
  },
  observation_recorded: {
    purpose:
      'A fact about the workspace, such as the branch, that helps a later chat find the session. Gathered when a run starts and at checkpoints, and recorded when it changed. A `repo_root` with `ofRun` is the folder in which that run was started, where it is not the workspace of the session.',
    keyRecipe: ['{keyOnly.observedFor}', '{data.key}', '{keyOnly.valueDigest}'],
    keyNote:
      '`observedFor` is the node of the operation that made the observation, so that returning to an earlier branch is recorded again; `valueDigest` is the hex digest of the value',
    example: {
      data: { key: 'git_branch', value: { type: 'short_string', value: 'fix-login' }, confidence: 'high' },
      keyOnly: { observedFor: rootId, valueDigest: 'a'.repeat(64) },
    },
  },
  run_started: {
    purpose:
      'Starts a run of a workflow and pins it: the run continues with the workflow of this hash, even if the file changes.',
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
      'A place in the run that a token can name, with the snapshot to continue from. A `step` is reached by advancing, a `checkpoint` saves output within a step, and a `blocked_attempt` keeps what was sent when the attempt was blocked.',
    keyRecipe: ['{scope.runId}', '{scope.nodeId}'],
    example: {
      scope: root,
      data: { nodeKind: 'step', parentNodeId: null, workflowHash: digest('b'), snapshotRef: digest('c') },
    },
  },
  edge_created: {
    purpose:
      'Connects a node to the node it led to. A fork is an ordinary edge whose cause is `non_tip_advance`: its source already had a step after it.',
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
      'The outcome of one attempt at a node, with the reply exactly as it was sent. Sending the same call again returns that reply and records nothing.',
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
      'What the agent sent: a note, or a reference to an artifact whose bytes are in the artifact store. A correction is another output that supersedes an earlier one.',
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
      'How much the agent may decide alone, from this node on. `effective` is the result of the change; a warning says that it goes further than the workflow recommends.',
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
      'One observation of what the agent can do. A probe or a real attempt is strong; a mere claim is weak and never unlocks a step.',
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
      'Something that was skipped or assumed because the mode does not stop. The event is never changed; a later event on the same line may resolve the gap, and the final reply lists the open ones.',
    keyRecipe: ['{data.gapId}'],
    example: {
      scope: next,
      data: {
        gapId: 'gap_3x7d1m9k5tqw2c8z',
        severity: 'critical',
        reason: { category: 'contract_violation', detail: 'missing_required_output' },
        summary: 'The step requires findings, and none were sent.',
        resolution: { kind: 'unresolved' },
      },
    },
  },
  divergence_recorded: {
    purpose: 'The agent deviated from the instructions on purpose and said why.',
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
    purpose: 'Why the engine decided as it did, for people who read the log later. No decision depends on it.',
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
      'What changed in the context of a node. Its keys replace those of the nodes above, and null removes a key. Other branches do not see the change.',
    keyRecipe: ['{data.contextId}'],
    example: {
      scope: root,
      data: { contextId: 'ctx_0d4h8m2q6w1t5x9z', context: { goal: 'Fix the login' }, source: 'initial' },
    },
  },
  step_skipped: {
    purpose: 'A step whose condition was false. It does not come back on that line.',
    keyRecipe: ['{scope.nodeId}', '{keyOnly.ordinal}'],
    keyNote: '`ordinal` counts the steps that were skipped on the way to the node, from 0',
    example: {
      scope: next,
      data: { stepId: 'migrate', conditionId: 'has-schema-change', loopPath: [] },
      keyOnly: { ordinal: 0 },
    },
  },
  attestation_recorded: {
    purpose:
      'What a person answered, or what a command showed, on a channel that the arguments of a tool call cannot reach. The newest statement about a subject counts until the advance is recorded.',
    keyRecipe: ['{data.attestationId}'],
    example: {
      scope: next,
      data: {
        attestationId: 'att_3k8v1m5q9z2xw7tb',
        subject: { kind: 'attempt', digest: digest('c') },
        statement: { kind: 'approved', comment: 'Release it.', shown: 'whole' },
        by: { via: 'terminal', launch: 'x1', askedAt: EXAMPLE_AT, answerMs: 41_000 },
      },
    },
  },
};
