/** The part of the developers page about allowed origins: the sites from which scripts may submit claims. */

import { paths } from '../../../../web/console-paths.ts'
import { useWorkspace } from '../../page.tsx'
import { Field, PostForm } from '../../parts/form.tsx'

interface SitesProps {
  readonly sites: readonly string[]
  readonly typed?: string | undefined
  readonly problem?: string | undefined
}

export function Sites({ sites, typed, problem }: SitesProps) {
  const { id: workspaceId, isOwner } = useWorkspace()
  return (
    <>
      <h2 id="sites">Scripts in browsers</h2>
      <p>
        {sites.length === 0
          ? 'Scripts of no other site may submit claims with the keys of this workspace.'
          : `Scripts of these sites may submit claims with the keys of this workspace: ${sites.join(', ')}`}
      </p>
      {isOwner ? (
        <PostForm action={paths.sites(workspaceId)}>
          <Field
            name="sites"
            label="Sites"
            multiline
            value={typed ?? sites.join('\n')}
            help="One a line, such as https://app.example.com. Every visitor of such a page can take a key that is in it."
            problem={problem}
          />
          <button type="submit">Change the sites</button>
        </PostForm>
      ) : null}
    </>
  )
}
