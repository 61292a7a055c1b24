/**
 * Creates the least role under which Tidemark runs, and a user who has it. Run it in mongosh as a user who may create
 * roles and users, such as one with the role userAdminAnyDatabase:
 *
 *   mongosh 'mongodb://ADMIN@HOST/?authSource=admin' docs/roles.js
 *
 * Running it again updates the role and keeps the user. Run it again after each update of Tidemark.
 * docs/operating.md, section Roles, says what is lost without each action.
 */

/** The database that MONGODB_URI names. */
const database = 'tidemark';
const role = 'tidemark';
const user = 'tidemark';
/** Where the user is looked up (authSource); '$external' for a client certificate, whose subject is then the user. */
const userDatabase = 'admin';

const privileges = [
  {
    resource: { db: database, collection: '' },
    actions: [
      ...['changeStream', 'collMod', 'createIndex', 'find', 'insert'],
      ...['listCollections', 'listIndexes', 'remove', 'update'],
    ],
  },
  { resource: { db: database, collection: 'members' }, actions: ['bypassDocumentValidation'] },
  { resource: { db: database, collection: 'products' }, actions: ['bypassDocumentValidation'] },
  { resource: { db: 'local', collection: 'oplog.rs' }, actions: ['collStats'] },
  { resource: { cluster: true }, actions: ['getParameter', 'serverStatus'] },
];

const admin = db.getSiblingDB('admin');
const knownRoles = admin.runCommand({ rolesInfo: { role, db: 'admin' } });
if (knownRoles.roles.length === 0) admin.runCommand({ createRole: role, privileges, roles: [] });
else admin.runCommand({ updateRole: role, privileges, roles: [] });

const users = db.getSiblingDB(userDatabase);
const roles = [{ role, db: 'admin' }];
const knownUsers = users.runCommand({ usersInfo: { user, db: userDatabase } });
if (knownUsers.users.length > 0) users.runCommand({ grantRolesToUser: user, roles });
else if (userDatabase === '$external') users.runCommand({ createUser: user, roles });
else users.runCommand({ createUser: user, pwd: passwordPrompt(), roles });
