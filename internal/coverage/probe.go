package coverage

import "strings"

// The prefixes and suffixes of paths that scanners request from every site, in lower case. Pages
// that a site may have had, and others link to, are not listed, such as images in
// /wp-content/uploads/.
var (
	probeBeginnings = []string{
		"/+cscoe+/", "/.aws/", "/.docker/", "/.ds_store", "/.env", "/.git", "/.hg/", "/.htaccess",
		"/.htpasswd", "/.idea/", "/.kube/", "/.npmrc", "/.s3cfg", "/.ssh/", "/.svn/", "/.vscode/",
		"/_ignition/", "/_profiler/", "/actuator/", "/adminer", "/api/jsonws/", "/autodiscover/",
		"/aws.yml", "/aws/credentials", "/backup.sql", "/backup.zip", "/boaform/",
		"/cgi-bin/luci", "/dana-na/", "/database.sql", "/db.sql", "/debug/default/view",
		"/docker-compose.y", "/dump.sql", "/ecp/current/", "/fckeditor/editor/",
		"/geoserver/web/", "/global-protect/", "/goform/", "/gponform/", "/hnap1",
		"/manager/html", "/myadmin/", "/nmaplowercheck", "/owa/auth", "/phpinfo", "/phpmyadmin",
		"/phpunit/", "/pma/", "/remote/fgt_lang", "/sdk/weblanguage", "/server-status",
		"/sftp-config.json", "/solr/admin/", "/telescope/requests", "/thinkphp/", "/v2/_catalog",
		"/vendor/phpunit/", "/web.config", "/wordpress/wp-admin/", "/wordpress/wp-includes/",
		"/wp-admin", "/wp-config", "/wp-content/plugins/", "/wp-cron.php", "/wp-includes/",
		"/wp-json/wp/v2/users", "/wp-load.php", "/wp-login",
	}
	probeEndings = []string{
		".bak", ".env", ".php~", ".swp", "/.aws/credentials", "/.ds_store", "/.git/config",
		"/.git/head", "/alfa.php", "/bin/sh", "/c99.php", "/etc/passwd", "/eval-stdin.php",
		"/id_rsa", "/phpinfo.php", "/r57.php", "/setup.cgi", "/shell.php", "/wlwmanifest.xml",
		"/wp-admin/install.php", "/wp-admin/setup-config.php", "/wp-config.php", "/wp-login.php",
		"/wso.php", "/xmlrpc.php",
	}
)

// isProbe reports whether scanners request a path from every site.
func isProbe(path string) bool {
	path = strings.ToLower(path)
	for _, beginning := range probeBeginnings {
		if strings.HasPrefix(path, beginning) {
			return true
		}
	}
	for _, ending := range probeEndings {
		if strings.HasSuffix(path, ending) {
			return true
		}
	}
	return false
}
