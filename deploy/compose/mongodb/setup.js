// For mongosh: makes the replica set, and the user that the connection string of the service names. May run again.
const { MEMBERS, ROOT_PASSWORD_FILE, URI_FILE } = process.env;
const members = MEMBERS.split(',');
const rootPassword = fs.readFileSync(ROOT_PASSWORD_FILE, 'utf8').trim();
// Not a URL of JavaScript, which has one host.
const CONNECTION_STRING = /^mongodb:\/\/([^:]+):([^@]+)@[^/]+\/([^?]+)\?(.+)$/;
const [username, password, database, options] = CONNECTION_STRING.exec(
  fs.readFileSync(URI_FILE, 'utf8').trim(),
)
  .slice(1)
  .map(decodeURIComponent);
// By default mongosh waits for 2 s; a member may still start, and a new set elects its primary after 10 s.
const WAIT = 'serverSelectionTimeoutMS=120000';
const replicaSet = new URLSearchParams(options).get('replicaSet');

const admin = new Mongo(
  `mongodb://root:${rootPassword}@${members[0]}/admin?directConnection=true&${WAIT}`,
).getDB('admin');

try {
  admin.runCommand({ replSetGetStatus: 1 });
} catch (error) {
  if (error.codeName !== 'NotYetInitialized') throw error;
  admin.runCommand({
    replSetInitiate: {
      _id: replicaSet,
      members: members.map((host, index) => ({ _id: index, host, priority: index === 0 ? 2 : 1 })),
    },
  });
}

const set = connect(
  `mongodb://root:${rootPassword}@${MEMBERS}/${database}?replicaSet=${replicaSet}&authSource=admin&${WAIT}`,
);
// The metrics of the oplog need clusterMonitor.
const roles = ['readWrite', { role: 'clusterMonitor', db: 'admin' }];
if (set.getUser(username) === null) set.createUser({ user: username, pwd: password, roles });
else set.updateUser(username, { pwd: password, roles });
print(`The replica set has a primary, and the user ${username} may use the database ${database}.`);
