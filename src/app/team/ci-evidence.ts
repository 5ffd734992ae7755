import { err, ok, type Result, safeTry } from 'neverthrow';
import type * as z from 'zod';
import type { Flow } from '../../core/flow.ts';
import { defined } from '../../core/json/json-value.ts';
import type { Grade } from '../../core/log/autonomy.ts';
import { runTag } from '../../core/log/ids.ts';
import { type CheckRun, commandDigest, verdictWords } from '../../core/run/evidence/judge-check.ts';
import { currentObservation } from '../../core/views/node-facts.ts';
import type { ciResultShape } from '../../core/wire/team-shapes.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { AnswerIds } from '../ports/system-services.ts';
import type { Identity, IdentityProvider, SpaceAccess, TrustedCi } from '../ports/team-database.ts';
import {
  type DueCheck,
  dueCheck,
  type FindCheckRefusal,
  type RecordCheckRefusal,
  recordCheck,
} from '../run/attest-check.ts';
import type { AnswerServices } from '../services.ts';
import { type ListServices, sessionBoard } from '../sessions/session-board.ts';

/** A job of a CI system that the space trusts. */
export type CiJob = Required<Identity['job']> & Pick<Identity, 'principal'> & { readonly host: string };

export type CiRefusal =
  /** No CI system that the space trusts issued the token for this server. */
  | { readonly code: 'ci_unknown' }
  /** The token says too little, or is of another repository or branch than the space allows, or the space does not say which it allows. */
  | { readonly code: 'ci_job_unfit'; readonly why: 'claims_missing' | 'not_pinned' | 'other_repository' | 'other_ref' }
  | { readonly code: 'identity_unreachable'; readonly cause: string }
  | StoreFailure;

/** Finds out which job holds a token. `providerOf` gives the keys of an issuer. */
export async function ciJob(
  access: SpaceAccess,
  token: string,
  {
    providerOf,
    audiences,
  }: { readonly providerOf: (issuer: string) => IdentityProvider; readonly audiences: readonly string[] },
): Promise<Result<CiJob, CiRefusal>> {
  const trusted = await access.ci();
  if (trusted.isErr()) return err(trusted.error);
  // The token may be of any of them, so one that does not answer hides none of the others.
  let unknown: CiRefusal = { code: 'ci_unknown' };
  for (const ci of trusted.value) {
    const known = await providerOf(ci.issuer).identify(token, audiences);
    if (known.isErr()) unknown = known.error;
    else if (known.value !== undefined) return fitJob(ci, known.value);
  }
  return err(unknown);
}

function fitJob(
  { host, repositories, ref: wanted }: TrustedCi,
  { principal, job }: Identity,
): Result<CiJob, CiRefusal> {
  const unfit = (why: Extract<CiRefusal, { code: 'ci_job_unfit' }>['why']) =>
    err({ code: 'ci_job_unfit', why } as const);
  const { repository, ref, sha } = job;
  if (repository === undefined || ref === undefined || sha === undefined) {
    return unfit('claims_missing');
  }
  // Everybody who may push a branch can push a file for CI with it, so nothing counts unless the operator said so.
  if (repositories === undefined || wanted === undefined) return unfit('not_pinned');
  const isNamed = repositories.some((one) => one === '*' || one.toLowerCase() === repository.toLowerCase());
  if (!isNamed) return unfit('other_repository');
  if (wanted !== '*' && wanted !== ref) return unfit('other_ref');
  return ok({ principal, repository, ref, sha, host });
}

export type CiServices = AnswerServices & ListServices & { readonly answerIds: AnswerIds };

export type CiCheckRefusal =
  | { readonly code: 'run_unknown' }
  /** The job is of another repository or commit than the run. What the run is about is not told to others. */
  | { readonly code: 'other_repository' }
  | { readonly code: 'other_commit'; readonly commit: string | undefined }
  | { readonly code: 'other_command' }
  /** The agent brought or chose the command, and the job did not say that it runs such commands. */
  | { readonly code: 'command_unseen' }
  | FindCheckRefusal
  | RecordCheckRefusal;

/** The command of a check, for a job that runs it. One that nobody but the agent saw is given only to a job that asks for it. */
export async function ciCommand(
  services: CiServices,
  job: CiJob,
  asked: { readonly run: string; readonly check: string; readonly isUnseenTaken: boolean },
): Promise<Result<string, CiCheckRefusal>> {
  const found = await ciCheck(services, job, asked);
  if (found.isErr()) return err(found.error);
  const { unseen, chosenByAgent } = agentsPart(found.value);
  const isUnseen = unseen === true || chosenByAgent === true;
  return isUnseen && !asked.isUnseenTaken ? err({ code: 'command_unseen' }) : ok(found.value.command);
}

/**
 * What the agent decided about a command. A workflow of the bundle, or of a repository that an admin accepted for the space,
 * was seen by a person; a file or binding that came with a call was not.
 */
function agentsPart({ origin: { foreign, agentKeys }, check }: DueCheck): Pick<CheckRun, 'unseen' | 'chosenByAgent'> {
  const isAccepted = foreign === undefined || (foreign === 'remote' && check.isBound !== true);
  return {
    ...(isAccepted ? {} : { unseen: true as const }),
    ...(agentKeys.length === 0 ? {} : { chosenByAgent: true as const }),
  };
}

/** The check that a job may answer for: of a run in its repository, at its commit. */
async function ciCheck(
  services: CiServices,
  { repository, host, sha }: CiJob,
  { run, check }: { readonly run: string; readonly check: string },
): Promise<Result<DueCheck, CiCheckRefusal>> {
  return safeTry(async function* (): Flow<DueCheck, CiCheckRefusal> {
    const { rows } = yield* await sessionBoard(services);
    const named = rows.flatMap(({ sessionId, summary }) =>
      (summary?.runs ?? [])
        .filter(({ runId }) => runId === run || runTag(runId) === run.toLowerCase())
        .map(({ runId }) => ({ sessionId, runId })),
    );
    const [one, ...others] = named;
    if (one === undefined || others.length > 0) return err({ code: 'run_unknown' });
    const loaded = await services.sessions.load(one.sessionId);
    if (loaded.isErr()) return err({ code: 'run_unknown' });
    const seen = (key: 'repo_remote' | 'git_head_sha') =>
      currentObservation(loaded.value.view.observations, key)?.data.value.value;
    if (seen('repo_remote')?.toLowerCase() !== `${host}/${repository}`.toLowerCase()) {
      return err({ code: 'other_repository' });
    }
    const commit = seen('git_head_sha')?.replace('sha256:', '');
    if (commit !== sha) return err({ code: 'other_commit', commit });
    return dueCheck(services, loaded.value, { runId: one.runId, checkId: check });
  });
}

/** What the result is worth, and why it does not count or not for more. */
export type CiVerdict = { readonly grade?: Grade; readonly remark?: string };

/** Records what a job says about a check. Nothing that an agent holds can say this, so it counts as verified, unless the agent chose the command. */
export async function recordCiCheck(
  services: CiServices,
  job: CiJob,
  result: z.output<typeof ciResultShape>,
): Promise<Result<CiVerdict, CiCheckRefusal>> {
  const found = await ciCheck(services, job, result);
  if (found.isErr()) return err(found.error);
  const { command } = found.value;
  const digest = commandDigest(command, services.hasher.sha256);
  if (digest !== result.commandDigest) return err({ code: 'other_command' });
  const { exitCode, timedOut, durationMs, tests, log } = result;
  const now = services.clock.nowMs();
  const statement: CheckRun = {
    kind: 'check',
    checkId: result.check,
    commandDigest: digest,
    command: command.toWellFormed(),
    exitCode,
    timedOut,
    durationMs,
    headSha: job.sha,
    ...defined({ tests }),
    ...agentsPart(found.value),
  };
  const recorded = await recordCheck({ ...services, by: { via: 'ci', principal: job.principal } }, found.value, {
    statement,
    tail: log,
    attestationId: services.answerIds.attestation(),
    by: {
      via: 'ci',
      launch: services.answerIds.launch,
      askedAt: Math.max(0, now - durationMs),
      answerMs: durationMs,
      principal: job.principal,
    },
  });
  return recorded.map((verdict) =>
    defined({
      grade: verdict.kind === 'counts' ? verdict.grade : undefined,
      remark: verdictWords(verdict, found.value.check, statement),
    }),
  );
}
