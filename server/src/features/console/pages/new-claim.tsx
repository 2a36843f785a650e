/** Submitting a claim by hand: a form from the profile of the action, checked by the rules of the API. */
import { randomUUID } from 'node:crypto'
import type { ActionProfile } from '@claimcheck/core/plugin'
import { formatInstant } from '@claimcheck/core/rules'
import { ServiceError } from '../../../base/errors.ts'
import { HttpError, prepareRefusal } from '../../../http/errors.ts'
import type { App } from '../../../http/instance.ts'
import { ActionName } from '../../../web/parts/values.tsx'
import { Prose } from '../../../web/words.tsx'
import { claimReader } from '../../claims/wire.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, withNotice } from '../form-page.tsx'
import { ConsolePage, useWorkspace } from '../page.tsx'
import { Field, PostForm, Select } from '../parts/form.tsx'
import { type Problems, problemsByField, readSchemaForm, SchemaFields, startingValues } from '../parts/schema-form.tsx'
import { TimeField, utcOf } from '../parts/time-field.tsx'
import type { Fields } from '../request-fields.ts'
import { KEEPS_ALL } from '../unsent.tsx'
import { lengthWords } from '../words.ts'

const PREFIX = 'params.'
const UNKNOWN_ACTION = 'there is no such action: choose one from the list'
const TEXTS = ['client_claim_id', 'agent_id', 'target', 'claimed_at', 'deadline_at'] as const
const TIMES: ReadonlySet<string> = new Set(['claimed_at', 'deadline_at'])

export function newClaimRoutes(app: App, services: ConsoleDependencies): void {
  const { claims, registry, now } = services
  const profiles = registry.profiles()
  const readClaim = claimReader(profiles)
  const profileOf = (action: string | undefined) => profiles.find((profile) => profile.action === action)

  addPage(app, services, '/claims/new', {
    owners: true,
    show: ({ query: { action } }) => {
      const profile = action === undefined && profiles.length === 1 ? profiles[0] : profileOf(action)
      if (!profile) return <ChooseAction profiles={profiles} action={action} />
      const values = {
        client_claim_id: `by-hand-${randomUUID()}`,
        claimed_at: formatInstant(now()),
        ...startingValues(profile.params, PREFIX),
      }
      return <NewClaim profile={profile} values={values} problems={{}} />
    },
    form: {
      freshSignIn: 'is checked like every claim',
      keepsField: KEEPS_ALL,
      cost: 'trial',
      answer: async ({ request, reply, workspace: { id: workspaceId, payer, at }, user, form }) => {
        const profile = profileOf(form.action)
        if (!profile) throw new HttpError(400, UNKNOWN_ACTION)
        try {
          const submitter = { workspaceId, payer, submittedBy: user.id, speaksFor: 'unbound' as const }
          const { claim, created } = await claims.submit(submitter, readClaim(bodyOf(profile, form)))
          return withNotice(at.claim(claim.claimId), created ? 'claim-submitted' : 'claim-known')
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error
          const page = <NewClaim profile={profile} values={form} problems={problemsOf(error)} />
          return { page, status: prepareRefusal(error, request, reply).status }
        }
      },
    },
  })
}

/** Makes the body of the equivalent request to the API, without empty fields. */
function bodyOf({ action, params }: ActionProfile, values: Fields) {
  const given = TEXTS.map((name) => [name, values[name]?.trim() ?? ''] as const)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => [name, TIMES.has(name) ? utcOf(text) : text] as const)
  return { action, params: readSchemaForm(params, values, PREFIX), ...Object.fromEntries(given) }
}

function problemsOf({ code, issues, message }: ServiceError): Problems {
  if (code !== 'invalid') return { '': message }
  const { params: _, ...ofClaim } = problemsByField(issues, ['body'], '')
  const problems = { ...ofClaim, ...problemsByField(issues, ['body', 'params'], PREFIX) }
  return Object.fromEntries(Object.entries(problems).map(([name, text]) => [name, text.replace(/^Value error, /, '')]))
}

/**
 * The page to choose an action.
 * @param action an unknown action that was asked for
 */
function ChooseAction({ profiles, action }: { profiles: readonly ActionProfile[]; action: string | undefined }) {
  return (
    <ConsolePage title="Submit a claim" section="claims" problem={action === undefined ? undefined : UNKNOWN_ACTION}>
      {profiles.length > 0 ? (
        <form method="get" action={useWorkspace().at.newClaim} class="form">
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

function NewClaim({ profile, values, problems }: { profile: ActionProfile; values: Fields; problems: Problems }) {
  const { action, words, summary, target, params, deadlineMs, maxDeadlineMs } = profile
  const wrong = Object.keys(problems).length > 0 ? 'the claim was not submitted: correct the fields below' : undefined
  const text = { autocomplete: 'off', spellcheck: false } as const
  const field = (name: (typeof TEXTS)[number]) => ({ name, value: values[name], problem: problems[name] })
  return (
    <ConsolePage title="Submit a claim" section="claims" problem={problems[''] ?? problems.action ?? wrong}>
      <p>
        <ActionName action={action} title={words.title} />: {summary}
      </p>
      <PostForm action={useWorkspace().at.newClaim}>
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
