import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Result } from 'neverthrow';
import type { IdentityProvider, SpaceAccess, SpaceRefusal } from '../../app/ports/team-database.ts';
import {
  type CiCheckRefusal,
  type CiJob,
  type CiRefusal,
  type CiServices,
  ciCommand,
  ciJob,
  recordCiCheck,
} from '../../app/team/ci-evidence.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { commandDigest } from '../../core/run/evidence/judge-check.ts';
import { ciResultShape } from '../../core/wire/team-shapes.ts';
import { asError, body, refusal } from '../console/exchange-routes.ts';
import { AGENT_RATES, type CallerLimits, callerLimits } from './caller-limits.ts';
import type { TeamMetrics } from './team-metrics.ts';

export type CiRequest = {
  readonly access: (space: string) => Promise<Result<SpaceAccess, SpaceRefusal>>;
  readonly providerOf: (issuer: string) => IdentityProvider;
  /** For whom the token of a job must be issued. */
  readonly audience: string;
  readonly servicesOf: (space: string) => Promise<Result<CiServices, SpaceRefusal>>;
  readonly sha256: Sha256;
};

const PATH = '/s/:space/api/attestations';
const BODY_BYTES_MAX = 524_288;
const BEARER = /^Bearer +(\S+)$/i;

/** Evidence from CI: a job asks for the command of a check, runs it, and says how it ended. It holds no secret of ours. */
export function ciRoutes(app: Hono, request: CiRequest, metrics: Pick<TeamMetrics, 'refused'>): void {
  const limits = callerLimits(AGENT_RATES);
  app.get(PATH, (context) =>
    asJob(context, { ...request, limits, metrics }, async (job, services) => {
      const { run = '', check = '', unseen } = context.req.query();
      const found = await ciCommand(services, job, { run, check, isUnseenTaken: unseen === 'allowed' });
      if (found.isErr()) return refused(context, found.error);
      const command = found.value;
      return context.json({ command, commandDigest: commandDigest(command, request.sha256) });
    }),
  );
  app.post(PATH, bodyLimit({ maxSize: BODY_BYTES_MAX }), (context) =>
    asJob(context, { ...request, limits, metrics }, async (job, services) => {
      const sent = ciResultShape.safeParse(await body(context));
      if (!sent.success) return context.json(asError(WRONG_FORM), 400);
      const recorded = await recordCiCheck(services, job, sent.data);
      return recorded.isErr() ? refused(context, recorded.error) : context.json(recorded.value);
    }),
  );
}

type Asked = CiRequest & { readonly limits: CallerLimits; readonly metrics: Pick<TeamMetrics, 'refused'> };

async function asJob(
  context: Context,
  { access, providerOf, audience, servicesOf, limits, metrics }: Asked,
  work: (job: CiJob, services: CiServices) => Promise<Response>,
): Promise<Response> {
  const space = context.req.param('space') ?? '';
  const [, token] = BEARER.exec(context.req.header('authorization') ?? '') ?? [];
  const opened = await access(space);
  if (opened.isErr() && opened.error.code !== 'space_unknown') return away(context);
  // A space that does not exist looks like one that does not trust the job.
  if (opened.isErr() || token === undefined) return refused(context, { code: 'ci_unknown' });
  const job = await ciJob(opened.value, token, { providerOf, audiences: [audience] });
  if (job.isErr()) return refused(context, job.error);
  const services = await servicesOf(space);
  if (services.isErr()) return away(context);
  const answer = await limits.within(`${space}\n${job.value.principal}`, () => work(job.value, services.value));
  if (answer.isOk()) return answer.value;
  metrics.refused('too_many_calls');
  const busy = refusal(
    'The jobs of this repository ask more often than this server answers.',
    'Ask again in a second.',
  );
  return context.json(asError(busy), 429, { 'retry-after': String(answer.error.retryAfterS) });
}

function away(context: Context): Response {
  return context.json(asError(refusal('The database does not answer.', 'Run the job again in a minute.')), 503);
}

const WRONG_FORM = refusal(
  'The result does not have the form that a job sends. Nothing was recorded.',
  'Send it with examples/ci/attest.mjs of this release.',
);

type Words = readonly [status: 401 | 403 | 404 | 409 | 503, message: string, suggestion: string];

function refused(context: Context, found: CiRefusal | CiCheckRefusal): Response {
  const [status, message, suggestion] = wordsOf(found);
  return context.json(asError(refusal(`${message} Nothing was recorded.`, suggestion)), status);
}

const UNFIT: { readonly [why in Extract<CiRefusal, { code: 'ci_job_unfit' }>['why']]: Words } = {
  claims_missing: [
    403,
    'The token does not say which repository, ref and commit the job is for.',
    'Use the token of a CI job.',
  ],
  not_pinned: [
    403,
    'This space does not say whose jobs it trusts.',
    'An admin says it: workrail space trust SPACE ISSUER --host HOST --repository OWNER/NAME --ref REF.',
  ],
  other_repository: [
    403,
    'This space only takes the word of jobs of other repositories.',
    'An admin adds this one: workrail space trust SPACE ISSUER --host HOST --repository OWNER/NAME,… --ref REF.',
  ],
  other_ref: [403, 'This space only takes the word of jobs of another branch.', 'Run the job there.'],
};

function wordsOf(found: CiRefusal | CiCheckRefusal): Words {
  switch (found.code) {
    case 'ci_unknown':
      return [
        401,
        'No CI system that this space trusts issued this token for this server.',
        'An admin allows one: workrail space trust SPACE ISSUER --host HOST --repository OWNER/NAME --ref REF. The token must name this server as its audience.',
      ];
    case 'ci_job_unfit':
      return UNFIT[found.why];
    case 'identity_unreachable':
      return [503, 'The CI system does not give out its keys.', 'Run the job again in a minute.'];
    case 'run_unknown':
    case 'other_repository':
      return [404, 'The repository of this job has no such run.', 'Give the four characters that name the run.'];
    case 'other_commit':
      return [
        409,
        `The run is at another commit${found.commit === undefined ? '' : `, ${found.commit}`}.`,
        'Push what the agent works on, and run the job for that commit.',
      ];
    case 'other_command':
      return [409, 'This is not the command of the check.', 'Ask for the command, and run that.'];
    case 'command_unseen':
      return [
        409,
        'The agent brought or chose the command of this check, and nobody saw it. It would run with the rights of this job, and count as reported at most.',
        'An admin accepts the repository of the workflow for the space: workrail space source. A job without secrets can ask with unseen=allowed (attest.mjs: --unseen).',
      ];
    case 'unknown_check':
      return [409, `The step "${found.title}" has other checks.`, `Use one of: ${found.known.join(', ')}.`];
    case 'step_without_checks':
      return [409, `The step that is due, "${found.title}", has no checks.`, 'Run the job when a check is due.'];
    case 'run_complete':
    case 'step_over':
      return [409, 'The step is done, so no result is needed.', 'Nothing is left to do for this job.'];
    case 'value_missing':
      return [409, `The command needs a value that is not set: ${found.names.join(', ')}.`, 'The agent sends it.'];
    default:
      return [503, `The result cannot be recorded (${found.code}).`, 'Run the job again in a minute.'];
  }
}
