/** The kinds of code hosts that stand-ins are of. */
import { bitbucket } from './bitbucket.ts'
import { bitbucketServer } from './bitbucket-server.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import type { HostKind } from './world.ts'

export const HOST_KINDS: readonly HostKind[] = [github, gitlab, gitea, bitbucket, bitbucketServer]
