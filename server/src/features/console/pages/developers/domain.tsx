/** The part of the developers page about the domain of the workspace, which tells readers of receipts whose the bound agents are. */
import { Code, Time } from '../../../../web/parts/values.tsx'
import type { WorkspaceDomain } from '../../../workspaces/holders.ts'
import type { Refused } from '../../form-page.tsx'
import { useWorkspace } from '../../page.tsx'
import { Field, PostForm } from '../../parts/form.tsx'

export function Domain({ domain, refused }: { domain: WorkspaceDomain | undefined; refused: Refused | undefined }) {
  const { at, isOwner } = useWorkspace()
  return (
    <>
      <h2 id="domain">Domain</h2>
      <p>
        Receipts of bound agents name the domain of this workspace, once DNS shows that it is yours. It is looked up
        every hour.
      </p>
      {domain === undefined ? <p>The workspace has no domain.</p> : <Standing {...domain} />}
      {isOwner && (
        <PostForm action={at.domain}>
          <Field
            name="domain"
            label="Domain"
            value={refused?.values.domain ?? domain?.domain ?? ''}
            help="Such as acme.com. Leave it empty for none."
            problem={refused && `the domain is as before: ${refused.problem}`}
          />
          <button type="submit">Save and look it up</button>
        </PostForm>
      )}
    </>
  )
}

function Standing({ domain, record, isProven, checkedAt }: WorkspaceDomain) {
  return (
    <>
      <p>
        {isProven
          ? `Receipts of bound agents name ${domain}.`
          : `Receipts do not name ${domain}: its record was not found.`}
        {checkedAt !== null && (
          <>
            {' '}
            Looked up <Time at={checkedAt} />.
          </>
        )}
      </p>
      <p>The TXT record that shows it, for as long as receipts are to name it:</p>
      <Code text={`${record.name}. IN TXT "${record.value}"`} label="the record" />
    </>
  )
}
