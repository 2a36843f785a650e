/** Submitting a claim by hand: a form from the profile of the action, checked by the rules of the API. */
import { randomUUID } from 'node:crypto'
import type { ActionProfile } from '@claimcheck/core/plugin'
import { formatInstant } from '@claimcheck/core/rules'
import { ServiceError } from '../../../base/errors.ts'
import { prepareRefusal } from '../../../http/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { ActionName } from '../../../web/parts/values.tsx'
import { Prose } from '../../../web/words.tsx'
import { claimReader } from '../../claims/wire.ts'
import { showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { ConsolePage, useWorkspace } from '../page.tsx'
import { Field, PostForm, Select } from '../parts/form.tsx'
import { problemsByField, readSchemaForm, SchemaFields, startingValues } from '../parts/schema-form.tsx'
import { TimeField, utcOf } from '../parts/time-field.tsx'
import { type Fields, formOf, queryOf } from '../request-fields.ts'
import { ownersOnly, sessionOf, workspaceOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'
import { lengthWords } from '../words.ts'

const PREFIX = 'params.'
const TEXTS = ['client_claim_id', 'agent_id', 'target', 'claimed_at', 'deadline_at'] as const
const TIMES: ReadonlySet<string> = new Set(['claimed_at', 'deadline_at'])

type Problems = Readonly<Record<string, string>>

export function newClaimRoutes(app: App, { claims, registry, now }: ConsoleDependencies): void {
  const profiles = registry.profiles()
  const readClaim = claimReader(profiles)
  const profileOf = (action: string | undefined) => profiles.find((profile) => profile.action === action)

  app.get('/claims/new', { preHandler: ownersOnly }, async (request, reply) => {
    const { action } = queryOf(request)
    const profile = action === undefined && profiles.length === 1 ? profiles[0] : profileOf(action)
    if (!profile) return showPage(request, reply, <ChooseAction profiles={profiles} action={action} />)
    const values = {
      client_claim_id: `by-hand-${randomUUID()}`,
      claimed_at: formatInstant(now()),
      ...startingValues(profile.params, PREFIX),
    }
    return showPage(request, reply, <NewClaim profile={profile} values={values} problems={{}} />)
  })

  app.post(
    '/claims/new',
    { config: { ...KEEPS_ALL.config, cost: 'trial' }, preHandler: ownersOnly },
    async (request, reply) => {
      const { id: workspaceId } = workspaceOf(request)
      const values = formOf(request)
      const profile = profileOf(values.action)
      if (!profile) throw new ServiceError('bad_request', 'there is no such action: choose one from the list')
      try {
        const { payer } = workspaceOf(request)
        const submitter = { workspaceId, payer, submittedBy: sessionOf(request).user.id, speaksFor: 'unbound' as const }
        const { claim, created } = await claims.submit(submitter, readClaim(bodyOf(profile, values)))
        const done = created ? 'claim-submitted' : 'claim-known'
        return reply.redirect(`${paths.claim(workspaceId, claim.claimId)}?done=${done}`, 303)
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        const problems = problemsOf(error)
        const page = <NewClaim profile={profile} values={values} problems={problems} />
        return showPage(request, reply, page, prepareRefusal(error, request, reply).status)
      }
    },
  )
}

/** The body of the same request to the API. Empty fields are left out. */
function bodyOf({ action, params }: ActionProfile, values: Fields) {
  const given = TEXTS.map((name) => [name, values[name]?.trim() ?? ''] as const)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => [name, TIMES.has(name) ? utcOf(text) : text] as const)
  return { action, params: readSchemaForm(params, values, PREFIX), ...Object.fromEntries(given) }
}

/** By the names of the fields; under the empty name what concerns no single field. */
function problemsOf({ code, issues, message }: ServiceError): Problems {
  if (code !== 'invalid') return { '': message }
  const { params: _, ...ofClaim } = problemsByField(issues, ['body'], '')
  const problems = { ...ofClaim, ...problemsByField(issues, ['body', 'params'], PREFIX) }
  return Object.fromEntries(Object.entries(problems).map(([name, text]) => [name, text.replace(/^Value error, /, '')]))
}

interface ChooseActionProps {
  readonly profiles: readonly ActionProfile[]
  /** Asked for, but unknown. */
  readonly action: string | undefined
}

function ChooseAction({ profiles, action }: ChooseActionProps) {
  const { id: workspaceId } = useWorkspace()
  const problem = action === undefined ? undefined : 'there is no such action: choose one from the list'
  return (
    <ConsolePage title="Submit a claim" section="claims" problem={problem}>
      {profiles.length > 0 ? (
        <form method="get" action={paths.newClaim(workspaceId)} class="form">
          <Select
            name="action"
            label="What is claimed"
            options={profiles.map(
              ({ action, words, summary }) => [action, `${words.title} (${action}): ${summary}`] as const,
            )}
          />
          <button type="submit">Continue</button>
        </form>
      ) : (
        <p>No plugin is configured: ask the operator of this service to add one.</p>
      )}
    </ConsolePage>
  )
}

interface NewClaimProps {
  readonly profile: ActionProfile
  readonly values: Fields
  readonly problems: Problems
}

function NewClaim({ profile, values, problems }: NewClaimProps) {
  const { id: workspaceId } = useWorkspace()
  const { action, words, summary, target, params, deadlineMs, maxDeadlineMs } = profile
  const wrong = Object.keys(problems).length > 0 ? 'the claim was not submitted: correct the fields below' : undefined
  const text = { autocomplete: 'off', spellcheck: false } as const
  const field = (name: (typeof TEXTS)[number]) => ({ name, value: values[name], problem: problems[name] })
  return (
    <ConsolePage title="Submit a claim" section="claims" problem={problems[''] ?? problems.action ?? wrong}>
      <p>
        <ActionName action={action} title={words.title} />: {summary}
      </p>
      <PostForm action={paths.newClaim(workspaceId)}>
        <input type="hidden" name="action" value={action} />
        <Field
          {...field('target')}
          label={words.target}
          help={<Prose text={(target as { description?: string }).description ?? ''} />}
          required
          {...text}
        />
        <SchemaFields schema={params} values={values} problems={problems} prefix={PREFIX} />
        <Field {...field('agent_id')} label="Agent" help="The name of the agent that claims." required {...text} />
        <TimeField {...field('claimed_at')} label="Claimed at" help="When the agent did it." required />
        <TimeField
          {...field('deadline_at')}
          label="Deadline"
          help={`Until when the destination is checked: at most ${lengthWords(maxDeadlineMs)} after “Claimed at”. If empty: ${lengthWords(deadlineMs)}.`}
        />
        <Field
          {...field('client_claim_id')}
          label="Client claim ID (idempotency key)"
          help="Idempotency key. Sending the same ID again returns the existing claim."
          required
          {...text}
        />
        <button type="submit">Submit</button>
      </PostForm>
    </ConsolePage>
  )
}
