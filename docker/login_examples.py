"""Other ways to log in to the hub, in place of its own passwords: a file with one of these, named by LOGIN in docker/.env
and mounted into the hub's container by docker/compose.yml. The image has what OAuth and LDAP need. NOT RUN here against
real services of the kind; JupyterHub's own pages have more.

Whoever the service lets in may come in: say who, as below. Names must be 1 to 32 of a-z, 0-9, dot, _ and -.
"""
c = get_config()  # noqa: F821

# OAuth: GitHub here; GitLab, Google, Azure AD, Keycloak and any OpenID Connect are alike (oauthenticator).
c.JupyterHub.authenticator_class = "github"
c.GitHubOAuthenticator.client_id = "..."
c.GitHubOAuthenticator.client_secret = "..."
c.GitHubOAuthenticator.oauth_callback_url = "https://hub.example.org/hub/oauth_callback"
c.GitHubOAuthenticator.allowed_organizations = {"our-group"}
c.Authenticator.allow_all = False

# LDAP (jupyterhub-ldapauthenticator):
# c.JupyterHub.authenticator_class = "ldap"
# c.LDAPAuthenticator.server_address = "ldap.example.org"
# c.LDAPAuthenticator.tls_strategy = "on_connect"
# c.LDAPAuthenticator.bind_dn_template = ["uid={username},ou=people,dc=example,dc=org"]
# c.LDAPAuthenticator.allowed_groups = {"cn=our-group,ou=groups,dc=example,dc=org"}
# c.Authenticator.allow_all = False

# PAM, the machine's own users, is for the hub without containers: docker/without_containers.py. In the hub's container
# there are none, and the hub has no right to look at their passwords.
