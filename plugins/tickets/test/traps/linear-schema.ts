/** The part of Linear's published GraphQL schema that reads of issues and their history can ask for, with its types and what may be null. */

const PAGED = 'after: String, before: String, first: Int, last: Int'
const LISTED = `${PAGED}, includeArchived: Boolean, orderBy: PaginationOrderBy`

function connection(name: string): string {
  return `
    type ${name}Connection { edges: [${name}Edge!]! nodes: [${name}!]! pageInfo: PageInfo! }
    type ${name}Edge { cursor: String! node: ${name}! }`
}

export const LINEAR_SCHEMA = `
  scalar DateTime
  scalar JSONObject
  enum PaginationOrderBy { createdAt updatedAt }
  enum TeamVisibility { public private }

  type Query {
    issue(id: String!): Issue!
    issues(${LISTED}, filter: IssueFilter): IssueConnection!
    organization: Organization!
    rateLimitStatus: RateLimitPayload!
    team(id: String!): Team!
    teams(${LISTED}, filter: TeamFilter): TeamConnection!
    viewer: User!
    workflowState(id: String!): WorkflowState!
    workflowStates(${LISTED}, filter: WorkflowStateFilter): WorkflowStateConnection!
  }

  input IssueFilter { and: [IssueFilter!] id: IssueIdComparator number: NumberComparator or: [IssueFilter!] team: TeamFilter }
  input TeamFilter { id: IdComparator key: StringComparator }
  input WorkflowStateFilter { id: IdComparator team: TeamFilter type: StringComparator }
  input IssueIdComparator { eq: ID in: [ID!] neq: ID nin: [ID!] }
  input IdComparator { eq: ID in: [ID!] neq: ID nin: [ID!] }
  input NumberComparator { eq: Float gt: Float gte: Float in: [Float!] lt: Float lte: Float neq: Float nin: [Float!] }
  input StringComparator { eq: String eqIgnoreCase: String in: [String!] neq: String nin: [String!] startsWith: String }

  type Organization {
    archivedAt: DateTime createdAt: DateTime! id: ID! name: String! previousUrlKeys: [String!]! updatedAt: DateTime! urlKey: String!
  }
  type User {
    active: Boolean! admin: Boolean! app: Boolean! archivedAt: DateTime createdAt: DateTime! displayName: String! email: String!
    guest: Boolean! id: ID! isMe: Boolean! name: String! organization: Organization! updatedAt: DateTime! url: String!
  }
  type Team {
    archivedAt: DateTime createdAt: DateTime! displayName: String! groupIssueHistory: Boolean! id: ID! key: String! name: String!
    organization: Organization! private: Boolean! states(${LISTED}, filter: WorkflowStateFilter): WorkflowStateConnection!
    updatedAt: DateTime! visibility: TeamVisibility!
  }
  type WorkflowState {
    archivedAt: DateTime color: String! createdAt: DateTime! description: String id: ID! inheritedFrom: WorkflowState name: String!
    position: Float! team: Team! type: String! updatedAt: DateTime!
  }
  type Issue {
    addedToTeamAt: DateTime archivedAt: DateTime assignee: User autoArchivedAt: DateTime autoClosedAt: DateTime botActor: ActorBot
    branchName: String! canceledAt: DateTime completedAt: DateTime createdAt: DateTime! creator: User description: String
    history(${LISTED}): IssueHistoryConnection! id: ID! identifier: String! number: Float! previousIdentifiers: [String!]!
    priority: Float! startedAt: DateTime startedTriageAt: DateTime state: WorkflowState!
    stateHistory(${PAGED}): IssueStateSpanConnection! team: Team! title: String! trashed: Boolean triagedAt: DateTime
    updatedAt: DateTime! url: String!
  }
  type IssueHistory {
    actor: User actorId: String archived: Boolean archivedAt: DateTime autoArchived: Boolean autoClosed: Boolean botActor: ActorBot
    createdAt: DateTime! fromAssigneeId: String fromState: WorkflowState fromStateId: String fromTeam: Team fromTeamId: String
    fromTitle: String id: ID! issue: Issue! issueImport: IssueImport toAssigneeId: String toState: WorkflowState toStateId: String
    toTeam: Team toTeamId: String toTitle: String trashed: Boolean updatedAt: DateTime! updatedDescription: Boolean
  }
  type IssueStateSpan { endedAt: DateTime id: ID! startedAt: DateTime! state: WorkflowState stateId: ID! }
  type IssueImport { createdAt: DateTime! id: ID! service: String! status: String! updatedAt: DateTime! }
  type ActorBot { avatarUrl: String id: ID name: String subType: String type: String! userDisplayName: String }
  type PageInfo { endCursor: String hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String }
  type RateLimitPayload { identifier: String kind: String! limits: [RateLimitResultPayload!]! }
  type RateLimitResultPayload {
    allowedAmount: Float! period: Float! remainingAmount: Float! requestedAmount: Float! reset: Float! type: String!
  }
  ${['Issue', 'Team', 'WorkflowState', 'IssueHistory', 'IssueStateSpan'].map(connection).join('')}
`
