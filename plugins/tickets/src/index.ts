/** The plugin tickets: checks that issues of trackers came into a state. */
import { definePlugin, defineVerifier, Type } from '@claimcheck/core/plugin'
import { connectionType as jira } from './jira/connection.ts'
import { readIssue as readAtJira } from './jira/issue.ts'
import { LINEAR_API, QUERIES } from './linear/api.ts'
import { connectionType as linear } from './linear/connection.ts'
import { readIssue as readAtLinear } from './linear/issue.ts'
import { profile } from './profile.ts'
import { openReads } from './reads.ts'
import { connectionType as redmine } from './redmine/connection.ts'
import { readIssue as readAtRedmine } from './redmine/issue.ts'
import { normalize } from './target.ts'
import { type ReadIssue, report } from './transition.ts'

const READERS: Readonly<Record<string, ReadIssue>> = {
  [jira.provider]: readAtJira,
  [linear.provider]: readAtLinear,
  [redmine.provider]: readAtRedmine,
}

/** An issue of Redmine comes with all of its comments in one answer, and Jira's list of statuses has those of all projects. */
const LONGEST_ANSWER_BYTES = 5 * 1024 * 1024

const connections = [jira, linear, redmine]

const transition = defineVerifier({
  profile,
  providers: connections.map(({ provider }) => provider),
  limits: { requests: 24, bodyBytes: LONGEST_ANSWER_BYTES, timeMs: 30_000 },
  normalize,
  async check(claim, context) {
    const reads = openReads(context)
    const issue = await READERS[context.connection!.provider]!(claim, context, reads)
    return report(issue, claim, context, reads)
  },
})

export default definePlugin({
  name: 'tickets',
  api: 3,
  manifest: {
    hosts: [new URL(LINEAR_API).host, 'connection.base_url'],
    methods: { graphql: QUERIES },
  },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [transition], connections }),
})
