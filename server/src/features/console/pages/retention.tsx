/** How long a workspace keeps the content of its receipts: every member reads it, owners set it. A shorter time asks first. */

import type { FastifyRequest } from 'fastify'
import type { VNode } from 'preact'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { sendPage } from '../../../web/document.tsx'
import { Name } from '../../../web/parts/values.tsx'
import { sentence } from '../../../web/words.tsx'
import { MOST_DAYS } from '../../erasure/retention.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { freshSignInOnly } from '../fresh-sign-in.ts'
import { ConsolePage, type Viewer } from '../page.tsx'
import { AskForm, Field, PostForm } from '../parts/form.tsx'
import { refusalOf, saveForm } from '../refusal.ts'
import { formOf, queryOf } from '../request-fields.ts'
import { actingOf, isOwner, ownersOnly, viewerOf, workspaceOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'

const MOST_COUNTED = 10_000

export function retentionRoutes(app: App, services: ConsoleDependencies): void {
  const { retention, config } = services
  const { byOwners, leastDays } = config.retention
  // A person who finds an open browser erases nothing.
  const guarded = { ...KEEPS_ALL, preHandler: [ownersOnly, freshSignInOnly(services)] }

  async function page(request: FastifyRequest, shown: Pick<RetentionProps, 'typed' | 'problem'>): Promise<VNode> {
    return (
      <Retention
        viewer={viewerOf(request)}
        days={await retention.days(workspaceOf(request).id)}
        maySet={isOwner(request) && byOwners}
        byOwners={byOwners}
        leastDays={leastDays}
        done={queryOf(request).done}
        {...shown}
      />
    )
  }

  /** @throws ServiceError `not_found` where owners do not set it */
  function requireOwners(): void {
    if (!byOwners) throw new ServiceError('not_found', 'there is no such page')
  }

  app.get('/retention', async (request, reply) => sendPage(reply, await page(request, {})))

  app.get('/retention/change', { preHandler: ownersOnly }, async (request, reply) => {
    requireOwners()
    const typed = queryOf(request).days?.trim() ?? ''
    try {
      const days = readDays(typed)
      retention.check(days)
      const { id } = workspaceOf(request)
      const older = await retention.olderThan(id, days, MOST_COUNTED)
      return sendPage(reply, <Ask viewer={viewerOf(request)} days={days} older={older} />)
    } catch (error) {
      return sendPage(reply, await page(request, { typed, problem: sentence(refusalOf(error)) }), 422)
    }
  })

  app.post('/retention', guarded, async (request, reply) => {
    requireOwners()
    const { id } = workspaceOf(request)
    const { days = '' } = formOf(request)
    return saveForm(reply, {
      work: async () => retention.set(id, days === 'off' ? null : readDays(days), actingOf(request)),
      next: `${paths.retention(id)}?done=retention-changed`,
      refused: (problem) => page(request, { typed: days, problem: sentence(problem) }),
    })
  })
}

/** @throws ServiceError `bad_request` */
function readDays(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new ServiceError('bad_request', 'write a whole number of days')
}

interface RetentionProps {
  readonly viewer: Viewer
  /** null: for ever. */
  readonly days: number | null
  readonly maySet: boolean
  readonly byOwners: boolean
  readonly leastDays: number
  readonly typed?: string
  readonly problem?: string
  readonly done: string | undefined
}

function Retention({ viewer, days, maySet, byOwners, leastDays, typed, problem, done }: RetentionProps) {
  const { id } = viewer.workspace!
  return (
    <ConsolePage title="Retention" viewer={viewer} section="members" done={done}>
      <p id="kept">
        {days === null
          ? 'This workspace keeps the content of its receipts for ever.'
          : `This workspace keeps the content of its receipts for ${days} days. Older content is erased, for ever.`}
      </p>
      <p>
        What is erased: what the receipt says, its evidence, and the agent, target, params and checks of the claim. What
        stays: the entry in the log with its hash and its proofs, the receipt’s id and time, the verdict, and a note
        that the content was erased, when, and by this rule. Copies that others have stay with them, and still verify.
      </p>
      {maySet ? (
        <>
          <form method="get" action={`${paths.retention(id)}/change`}>
            <Field
              name="days"
              label="Keep for so many days"
              value={typed ?? (days === null ? undefined : String(days))}
              problem={problem}
              help={`From ${leastDays} to ${MOST_DAYS}. The next page asks before anything changes.`}
              required
              inputmode="numeric"
              maxLength={6}
              autocomplete="off"
            />
            <button type="submit">Continue</button>
          </form>
          {days === null ? null : (
            <PostForm action={paths.retention(id)}>
              <input type="hidden" name="days" value="off" />
              <button type="submit" class="quiet">
                Keep from now on for ever
              </button>
            </PostForm>
          )}
        </>
      ) : (
        <p>{byOwners ? 'An owner of the workspace can change this.' : 'The operator of this service sets this.'}</p>
      )}
    </ConsolePage>
  )
}

interface AskProps {
  readonly viewer: Viewer
  readonly days: number
  /** How many receipts are older already. */
  readonly older: number
}

function Ask({ viewer, days, older }: AskProps) {
  const { id, name } = viewer.workspace!
  const counted = older >= MOST_COUNTED ? `${MOST_COUNTED.toLocaleString('en')} or more` : older.toLocaleString('en')
  return (
    <ConsolePage title={`Erase receipts after ${days} days?`} viewer={viewer} section="members">
      <p>
        The content of every receipt of <Name of={name} /> that is older than {days} days is erased, with its evidence
        and its claim, from the next minutes on and for as long as this is set. It cannot be brought back, also not by
        setting a longer time later.
      </p>
      <p class="notice warning" id="older">
        Older already, and erased first: {counted} {older === 1 ? 'receipt' : 'receipts'}.
      </p>
      <AskForm action={paths.retention(id)} submit={`Erase after ${days} days`} danger href={paths.retention(id)}>
        <input type="hidden" name="days" value={String(days)} />
      </AskForm>
    </ConsolePage>
  )
}
