/** The page for the days after which a workspace has its decided claims looked at again: every member reads it, owners set them. */
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { sentence } from '../../../web/words.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage } from '../form-page.tsx'
import { ConsolePage, useWorkspace } from '../page.tsx'
import { Field, PostForm } from '../parts/form.tsx'

export function revisitSettingRoutes(app: App, services: ConsoleDependencies): void {
  const { revisits } = services

  addPage(app, services, '/revisits', {
    show: async ({ workspace, refused }) => (
      <RevisitSettings
        days={await revisits.days(workspace.id)}
        typed={refused?.values.days}
        problem={refused?.problem}
      />
    ),
    form: {
      owners: true,
      freshSignIn: 'it only reads',
      save: ({ workspace, form: { days = '' }, by }) => revisits.setDays(workspace.id, readDays(days), by),
      done: 'revisits-changed',
    },
  })
}

/** Reads numbers of days with commas between them. @throws ServiceError `bad_request` */
function readDays(text: string): number[] {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '')
  if (parts.every((part) => /^\d{1,4}$/.test(part))) return parts.map(Number)
  throw new ServiceError('bad_request', 'write whole numbers of days with commas between them, such as 7, 30')
}

function RevisitSettings({
  days,
  typed,
  problem,
}: {
  days: readonly number[]
  typed: string | undefined
  problem: string | undefined
}) {
  const { at, isOwner } = useWorkspace()
  return (
    <ConsolePage title="Looking again" section="members">
      <p id="set">
        {days.length === 0
          ? 'Claims of this workspace are not looked at again once they are decided, unless an owner asks for it on the page of the claim.'
          : `Verified and late claims of this workspace are looked at again ${days.join(' and ')} days after their submission.`}
      </p>
      <p>
        A look later tells whether what was verified is still there. It changes neither the verdict nor the receipt. The
        receipt’s page says below the verdict what was found, in words that blame nobody: others may change a
        destination. A claim is looked at again three times at most.
      </p>
      {isOwner ? (
        <PostForm action={at.revisits}>
          <Field
            name="days"
            label="Look again after so many days"
            value={typed ?? days.join(', ')}
            problem={problem && sentence(problem)}
            help="At most two numbers from 1 to 365, with a comma between them. Empty: never. It begins with claims that are not as old yet."
            maxLength={20}
            autocomplete="off"
          />
          <button type="submit">Save</button>
        </PostForm>
      ) : (
        <p>An owner of the workspace can change this.</p>
      )}
    </ConsolePage>
  )
}
