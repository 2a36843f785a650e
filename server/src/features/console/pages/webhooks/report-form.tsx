/** The form of reports on commits: at which host, by which credentials, and in which repositories. */
import { REPORT_FORMATS } from '../../../../storage/webhooks.ts'
import { publicPaths } from '../../../../web/paths.ts'
import type { ReportSettings } from '../../../webhooks/report-grants.ts'
import { ConsolePage, useWorkspace } from '../../page.tsx'
import { Actions, Checkbox, Field, PostForm, Select } from '../../parts/form.tsx'
import { FORMAT_WORDS } from './webhook-list.tsx'

interface ReportFormProps {
  /** The values of the form, as they were typed. */
  readonly values: ReportSettings
  readonly connections: readonly { readonly id: string; readonly name: string }[]
  readonly problem: string | undefined
}

export function ReportForm({ values, connections, problem }: ReportFormProps) {
  const { at } = useWorkspace()
  const { format, connection, repositories, app, comments } = values
  return (
    <ConsolePage title="Report on commits" section="developers" problem={problem}>
      <p>
        Verdicts come to the commits that claims name.{' '}
        <a href={`${publicPaths.docs}/reports`}>What is reported, and which rights it needs</a>
      </p>
      <PostForm action={at.newReport}>
        <Select
          name="format"
          label="On"
          options={REPORT_FORMATS.map((one) => [one, FORMAT_WORDS[one]])}
          value={format}
          help="Check runs need a GitHub App, statuses a token."
        />
        <Select
          name="connection"
          label="Connection"
          options={connections.map(({ id, name }) => [id, `${name} (${id})`])}
          value={connection}
          help="Claims that are read through it are reported, at its host. It leaves out from then on what is reported here."
        />
        <Field
          name="repositories"
          label="Repositories"
          multiline
          value={repositories.join('\n')}
          help="One a line, such as acme/api. No other gets a report."
          spellcheck={false}
          required
        />
        <Field
          name="credential"
          label="Token, or private key of the app"
          multiline
          help="Apart from the one that reads. It is stored encrypted, and not shown again."
          autocomplete="off"
          spellcheck={false}
          required
        />
        <Field
          name="app_id"
          label="App"
          value={app.id}
          help="Of a GitHub App: its id."
          spellcheck={false}
          maxLength={64}
        />
        <Field
          name="installation_id"
          label="Installation"
          value={app.installation}
          help="Of a GitHub App: the number at the end of the address of its installation."
          inputmode="numeric"
          maxLength={20}
        />
        <Checkbox
          name="comments"
          label="Comment on pull requests, too"
          value="yes"
          isTicked={comments}
          help="By the GitHub App, and at GitLab: one comment, which is kept up to date."
        />
        <Actions submit="Set up reports" href={at.webhooks} />
      </PostForm>
    </ConsolePage>
  )
}
