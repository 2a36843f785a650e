/** The page for the silence of agents of which a workspace is told: every member reads it, owners set it. */
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { Name } from '../../../web/parts/values.tsx'
import { sentence } from '../../../web/words.tsx'
import { MOST_HOURS, type Silence } from '../../agent-watch/silence.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, type Refused } from '../form-page.tsx'
import { ConsolePage, useWorkspace } from '../page.tsx'
import { ButtonForm, Field, PostForm } from '../parts/form.tsx'

export function silenceRoutes(app: App, services: ConsoleDependencies): void {
  const { silence } = services
  addPage(app, services, '/silence', {
    show: async ({ workspace, refused }) => (
      <SilencePage silence={await silence.of(workspace.id)} isOwner={workspace.isOwner} refused={refused} />
    ),
    form: {
      owners: true,
      freshSignIn: 'changes what the workspace is told',
      save: ({ workspace, form: { hours = '', agents = '' }, by }) =>
        silence.set(workspace.id, hours === 'off' ? null : { hours: readHours(hours), agents: linesOf(agents) }, by),
      done: 'silence-changed',
    },
  })
}

/** @throws ServiceError `bad_request` */
function readHours(text: string): number {
  if (/^\d{1,6}$/.test(text.trim())) return Number(text)
  throw new ServiceError('bad_request', 'write a whole number of hours')
}

function linesOf(text: string): string[] {
  return [...new Set(text.split('\n').map((line) => line.trim()))].filter(Boolean)
}

interface SilencePageProps {
  readonly silence: Silence | undefined
  readonly isOwner: boolean
  readonly refused: Refused | undefined
}

function SilencePage({ silence, isOwner, refused }: SilencePageProps) {
  const { at } = useWorkspace()
  const { hours, agents = [] } = silence ?? {}
  const typed = refused?.values
  return (
    <ConsolePage title="Silent agents" section="agents">
      <p id="told">
        {hours === undefined
          ? 'This workspace is not told when an agent stops to claim.'
          : `An event tells of an agent that submitted no claim for ${hours} hours, once for each silence.`}
      </p>
      {agents.length > 0 && (
        <ul>
          {agents.map((agent) => (
            <li>
              <Name of={agent} />
            </li>
          ))}
        </ul>
      )}
      <p>
        The event is <code>agent.silent</code>: webhooks and event streams have it.
      </p>
      {isOwner ? (
        <>
          <PostForm action={at.silence}>
            <Field
              name="hours"
              label="Hours without a claim"
              value={typed?.hours ?? hours?.toString()}
              problem={refused && sentence(refused.problem)}
              help={`From 1 to ${MOST_HOURS}. Another number counts from now on.`}
              required
              inputmode="numeric"
              maxLength={6}
              autocomplete="off"
            />
            <Field
              name="agents"
              label="Agents"
              multiline
              value={typed?.agents ?? agents.join('\n')}
              help="One id a line. Empty, every one."
              spellcheck={false}
            />
            <button type="submit">Tell of silence</button>
          </PostForm>
          {silence && (
            <ButtonForm action={at.silence} fields={{ hours: 'off' }}>
              Tell of no silence
            </ButtonForm>
          )}
        </>
      ) : (
        <p>An owner of the workspace can change this.</p>
      )}
    </ConsolePage>
  )
}
