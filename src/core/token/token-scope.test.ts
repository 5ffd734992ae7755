import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { keys, node, otherNode, purpose } from '../../../test/golden/token/token-fixture.ts';
import {
  attemptIdSchema,
  eventIndexSchema,
  NodeId,
  RunId,
  runTag,
  SessionId,
  type WorkflowId,
  workflowHashSchema,
  workflowIdSchema,
} from '../log/ids.ts';
import {
  checkTokenPair,
  type MintableNode,
  mintToken,
  parseToken,
  resolveToken,
  type TokenScope,
} from './node-token.ts';
import { TOKEN_KINDS, type TokenClaims, type TokenForm } from './token.ts';
import type { TokenPlace } from './token-refusal.ts';

const forms = ['compact', 'bound', 'json'] as const;
const bugfix = workflowIdSchema.parse('wr.bug-fix');
const review = workflowIdSchema.parse('wr.review');
const otherHash = workflowHashSchema.parse(`sha256:${'f'.repeat(64)}`);
const sibling: MintableNode = { ...node, nodeId: NodeId.of(new Uint8Array(10)), eventIndex: eventIndexSchema.parse(9) };
const nodes = [node, otherNode, sibling];

const scope: TokenScope = {
  sessionId: node.sessionId,
  nodeAt: (eventIndex) => nodes.find((known) => known.eventIndex === eventIndex),
  node: (nodeId) => nodes.find((known) => known.nodeId === nodeId),
  run: (runId) => {
    if (runId === node.runId) return { workflowId: bugfix, workflowHash: node.workflowHash };
    if (runId === otherNode.runId) return { workflowId: review, workflowHash: node.workflowHash };
    return undefined;
  },
};

function placeOf({ sessionId, runId, nodeId }: MintableNode, workflowId: WorkflowId): TokenPlace {
  return { sessionId, runId, nodeId, tag: runTag(runId), workflowId };
}

function claimsOf(of: MintableNode, form: TokenForm, kind: TokenClaims['kind'] = 'state'): TokenClaims {
  return parseToken(mintToken(of, purpose(kind), { ...keys, form }), 'attachTo', keys)._unsafeUnwrap();
}

function resolved(of: MintableNode, form: TokenForm, kind: TokenClaims['kind']) {
  return resolveToken(claimsOf(of, form, kind), scope)._unsafeUnwrap();
}

describe.each(forms)('a %s token', (form) => {
  test('a %s token leads to the node it was made for, and to no other', () => {
    enforces('token_scoped_to_run_and_node');
    for (const [of, workflowId] of [
      [node, bugfix] as const,
      [otherNode, review] as const,
      [sibling, bugfix] as const,
    ]) {
      const place = placeOf(of, workflowId);
      expect(resolveToken(claimsOf(of, form), scope)).toEqual(ok({ ...place, kind: 'state' }));
      for (const kind of ['ack', 'checkpoint'] as const) {
        const attemptId = attemptIdSchema.parse(3);
        const text = mintToken(of, { kind, attemptId }, { ...keys, form });
        const claims = parseToken(text, 'attachTo', keys)._unsafeUnwrap();
        expect(resolveToken(claims, scope)).toEqual(ok({ ...place, kind, attemptId }));
      }
    }
  });

  test('a %s token whose node or session is not stored is refused', () => {
    enforces('token_error_unknown_node');
    const gone: MintableNode = {
      ...node,
      nodeId: NodeId.of(new Uint8Array(10).fill(1)),
      eventIndex: eventIndexSchema.parse(77),
    };
    const missing = form !== 'json' ? { kind: 'node_at', eventIndex: 77 } : { kind: 'node', nodeId: gone.nodeId };
    const { sessionId } = node;
    for (const kind of TOKEN_KINDS) {
      expect(resolveToken(claimsOf(gone, form, kind), scope)).toEqual(
        err({ code: 'TOKEN_UNKNOWN_NODE', sessionId, missing }),
      );
      expect(resolveToken(claimsOf(node, form, kind), undefined)).toEqual(
        err({ code: 'TOKEN_UNKNOWN_NODE', sessionId, missing: { kind: 'session' } }),
      );
      expect(resolveToken(claimsOf(node, form, kind), { ...scope, run: () => undefined })).toEqual(
        err({ code: 'TOKEN_UNKNOWN_NODE', sessionId, missing: { kind: 'run', runId: node.runId } }),
      );
    }
  });

  test('a %s token of another session is refused', () => {
    enforces('token_error_scope_mismatch', 'token_scoped_to_run_and_node');
    const found = SessionId.of(new Uint8Array(10).fill(8));
    const mismatch = { kind: 'session', expected: node.sessionId, found };
    expect(resolveToken(claimsOf({ ...node, sessionId: found }, form), scope)).toEqual(
      err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch }),
    );
  });

  test('a %s token that names another run than the one of its node is refused', () => {
    enforces('token_error_scope_mismatch', 'token_scoped_to_run_and_node');
    const unknownRun = RunId.of(new Uint8Array(10));
    for (const [runId, workflowId] of [[otherNode.runId, review] as const, [unknownRun, null] as const]) {
      const named =
        form !== 'json'
          ? { tag: runTag(runId), runId: null, workflowId: null }
          : { tag: runTag(runId), runId, workflowId };
      for (const kind of TOKEN_KINDS) {
        const mismatch = { kind: 'run', place: placeOf(node, bugfix), named };
        expect(resolveToken(claimsOf({ ...node, runId }, form, kind), scope)).toEqual(
          err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch }),
        );
      }
    }
  });

  test('a %s token is refused when its node was recorded with another workflow than its run', () => {
    enforces('token_error_workflow_hash_mismatch');
    const moved = { ...node, workflowHash: otherHash };
    for (const kind of TOKEN_KINDS) {
      expect(resolveToken(claimsOf(node, form, kind), { ...scope, node: () => moved, nodeAt: () => moved })).toEqual(
        err({
          code: 'TOKEN_WORKFLOW_HASH_MISMATCH',
          place: placeOf(node, bugfix),
          source: 'node',
          pinned: node.workflowHash,
          found: otherHash,
        }),
      );
    }
  });
});

test('a JSON state token that names another workflow than its run is refused', () => {
  enforces('token_error_workflow_hash_mismatch');
  expect(resolveToken(claimsOf({ ...node, workflowHash: otherHash }, 'json'), scope)).toEqual(
    err({
      code: 'TOKEN_WORKFLOW_HASH_MISMATCH',
      place: placeOf(node, bugfix),
      source: 'token',
      pinned: node.workflowHash,
      found: otherHash,
    }),
  );
});

test('two runs may share a run tag: the JSON form still tells them apart', () => {
  enforces('token_scoped_to_run_and_node');
  const bytes = new Uint8Array(10).fill(0x5a);
  bytes[0] = 1;
  const twin = RunId.of(bytes);
  expect(runTag(twin)).toBe(runTag(node.runId));
  expect(resolveToken(claimsOf({ ...node, runId: twin }, 'json', 'ack'), scope)._unsafeUnwrapErr().code).toBe(
    'TOKEN_SCOPE_MISMATCH',
  );
});

test('tokens sent together agree when they name one node, in whatever form', () => {
  for (const stateForm of forms) {
    for (const form of forms) {
      for (const kind of ['ack', 'checkpoint'] as const) {
        const operation = resolved(node, form, kind);
        expect(checkTokenPair(resolved(node, stateForm, 'state'), operation)).toEqual(ok(operation));
      }
    }
  }
});

test('tokens sent together are refused when they name two nodes, runs or sessions, and both are named', () => {
  enforces('token_error_scope_mismatch', 'token_scoped_to_run_and_node');
  const state = resolved(node, 'compact', 'state');
  const otherSession = SessionId.of(new Uint8Array(10).fill(8));
  for (const kind of ['ack', 'checkpoint'] as const) {
    const ofRun = resolved(otherNode, 'compact', kind);
    const ofNode = resolved(sibling, 'json', kind);
    const same = resolved(node, 'compact', kind);
    const pairs = [
      [ofRun, placeOf(otherNode, review)],
      [ofNode, placeOf(sibling, bugfix)],
      [
        { ...same, sessionId: otherSession },
        { ...placeOf(node, bugfix), sessionId: otherSession },
      ],
      [
        { ...same, runId: otherNode.runId },
        { ...placeOf(node, bugfix), runId: otherNode.runId },
      ],
    ] as const;
    for (const [operation, named] of pairs) {
      const mismatch = { kind: 'pair', state: placeOf(node, bugfix), operation: named };
      expect(checkTokenPair(state, operation)).toEqual(err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch }));
    }
  }
});
