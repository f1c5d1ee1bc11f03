package shortlink_test

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	_ "github.com/caddy-shortlink/shortlink/page" // which the manifests configure
)

// These tests hold the files of contrib, most of which need other software to run, against what
// they name.

func TestTheImageIsBuiltAsThePageOfBuildsSays(t *testing.T) {
	instructions := readContrib(t, "Dockerfile")
	var onPage string
	for _, part := range readDocument(t, "docs/xcaddy.md").parts {
		if slices.Equal(part.info, []string{"dockerfile"}) {
			onPage = part.text
		}
	}
	line := regexp.MustCompile(`(?m)^(FROM .*|COPY --from.*|RUN xcaddy build \S+)`)
	want, got := line.FindAllString(onPage, -1), line.FindAllString(instructions, -1)
	if len(want) != 4 || !slices.Equal(got, want) {
		t.Errorf("the Dockerfile says %q, xcaddy.md %q", got, want)
	}
	version := regexp.MustCompile(`caddyserver/caddy/v2 (v\S+)`).FindStringSubmatch(
		testcaddy.ReadFile(t, "go.mod"))[1]
	if !strings.Contains(instructions, "xcaddy build "+version+" ") {
		t.Errorf("the module needs Caddy %s", version)
	}
	with := regexp.MustCompile(`--with (\S+)@\$\{COMMIT\}`)
	var packages []string
	for _, found := range with.FindAllStringSubmatch(instructions, -1) {
		packages = append(packages, found[1])
	}
	if !slices.Equal(packages, []string{modulePath, modulePath + "/page"}) {
		t.Errorf("the image has %q", packages)
	}
}

func TestTheContainerKeepsWhatCaddyWrites(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Build struct {
				Context string
				Args    map[string]string
			}
			Volumes []string
		}
		Volumes map[string]any
	}
	testcaddy.Must(t, yaml.Unmarshal([]byte(readContrib(t, "compose.yml")), &compose))
	service := compose.Services["caddy"]
	dockerfile := readContrib(t, filepath.Join(service.Build.Context, "Dockerfile"))
	for arg := range service.Build.Args {
		if !strings.Contains(dockerfile, "\nARG "+arg+"=") {
			t.Errorf("the Dockerfile has no argument %s", arg)
		}
	}
	mounts := map[string]string{}
	for _, volume := range service.Volumes {
		from, rest, _ := strings.Cut(volume, ":")
		to, _, _ := strings.Cut(rest, ":")
		mounts[to] = from
		if _, declared := compose.Volumes[from]; !declared && !strings.HasPrefix(from, "./") {
			t.Errorf("the volume %s is not declared", from)
		}
		if path.Ext(to) != "" {
			t.Errorf("%s is a file, which an edit cannot replace", to)
		}
	}
	// The folders of Caddy's image, and the one that docs/deploy.md has for rules.
	for _, dir := range []string{"/etc/caddy", "/data", "/config", "/srv/links"} {
		if mounts[dir] == "" {
			t.Errorf("%s is lost with the container", dir)
		}
	}
}

// manifest is what the test reads of an object of Kubernetes.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Selector map[string]any
		Template struct {
			Metadata struct{ Labels map[string]any }
			Spec     podSpec
		}
		Ports []struct{ TargetPort string }
	}
}

type podSpec struct {
	InitContainers, Containers []container
	Volumes                    []struct {
		Name                  string
		ConfigMap             struct{ Name string }
		PersistentVolumeClaim struct{ ClaimName string }
	}
}

type container struct {
	Image        string
	Env          []struct{ Name string }
	VolumeMounts []struct{ Name, MountPath string }
	Ports        []struct {
		Name          string
		ContainerPort int
	}
	StartupProbe, ReadinessProbe, LivenessProbe probe
}

type probe struct{ HTTPGet struct{ Path, Port string } }

// readManifests returns the objects of contrib/kubernetes.yml by kind.
func readManifests(t *testing.T) map[string]manifest {
	t.Helper()
	byKind := map[string]manifest{}
	decoder := yaml.NewDecoder(strings.NewReader(readContrib(t, "kubernetes.yml")))
	for {
		var object any
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return byKind
		}
		testcaddy.Must(t, err)
		inJSON, err := json.Marshal(object) // whose names match fields in either case
		testcaddy.Must(t, err)
		var read manifest
		testcaddy.Must(t, json.Unmarshal(inJSON, &read))
		byKind[read.Kind] = read
	}
}

func TestTheManifestsOfKubernetesBelongTogether(t *testing.T) {
	objects := readManifests(t)
	deployment := objects["Deployment"].Spec
	pod := deployment.Template.Spec
	labels := deployment.Template.Metadata.Labels
	selected := deployment.Selector["matchLabels"].(map[string]any)["app"]
	if selected != labels["app"] || objects["Service"].Spec.Selector["app"] != labels["app"] {
		t.Errorf("not all select the pods with %v", labels)
	}
	ports := map[string]int{}
	for _, port := range pod.Containers[0].Ports {
		ports[port.Name] = port.ContainerPort
	}
	for _, port := range objects["Service"].Spec.Ports {
		if ports[port.TargetPort] == 0 {
			t.Errorf("the service leads to the port %s, which no container has", port.TargetPort)
		}
	}
	volumes := map[string]string{}
	for _, volume := range pod.Volumes {
		volumes[volume.Name] = volume.ConfigMap.Name + volume.PersistentVolumeClaim.ClaimName
		if claim := volume.PersistentVolumeClaim.ClaimName; claim != "" &&
			claim != objects["PersistentVolumeClaim"].Metadata.Name {
			t.Errorf("nothing claims %s", claim)
		}
		if name := volume.ConfigMap.Name; name != "" && name != objects["ConfigMap"].Metadata.Name {
			t.Errorf("there is no ConfigMap %s", name)
		}
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, mount := range c.VolumeMounts {
			if volumes[mount.Name] == "" {
				t.Errorf("%s mounts %s, which is no volume", c.Image, mount.Name)
			}
		}
	}
}

func TestTheConfigurationForKubernetesAnswersItsProbes(t *testing.T) {
	objects := readManifests(t)
	server := objects["Deployment"].Spec.Template.Spec.Containers[0]
	for _, variable := range server.Env {
		t.Setenv(variable.Name, "$2a$04$hoKkVu6H3AmsMy5ZuEMJyeANa5W34/jOj/msfLgdN1a4Nn4ECPjW.")
	}
	dir := t.TempDir()
	testcaddy.Write(t, filepath.Join(dir, "links.json"), `{"docs": "https://docs.example"}`)
	config := strings.ReplaceAll(objects["ConfigMap"].Data["Caddyfile"], "/data/links", dir)
	addresses := map[string]*testcaddy.Server{}
	for _, port := range server.Ports {
		s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
		addresses[port.Name] = s
		_, free, _ := net.SplitHostPort(s.Addr)
		config = strings.ReplaceAll(config, ":"+strconv.Itoa(port.ContainerPort)+" {", ":"+free+" {")
	}
	loadExample(t, "contrib/kubernetes.yml", config)
	for _, probe := range []probe{server.StartupProbe, server.ReadinessProbe, server.LivenessProbe} {
		got := addresses[probe.HTTPGet.Port].Get(t, probe.HTTPGet.Path)
		if got.Status != 200 || got.Body != "ok" {
			t.Errorf("%s: got %d %q", probe.HTTPGet.Path, got.Status, got.Body)
		}
	}
	addresses["health"].Get(t, "/metrics").Wants(t, 200, `caddy_shortlink_rules{name="go"} 1`)
	addresses["http"].Leads(t, "/docs", "302 https://docs.example/")
	addresses["http"].Get(t, "/.links/").Wants(t, 401)
}

func TestTheUnitOfSystemdRunsCommandsThatThereAre(t *testing.T) {
	commands := regexp.MustCompile(`(?m)^Exec\w+=/usr/bin/caddy (\w+) (.*)$`)
	found := commands.FindAllStringSubmatch(readContrib(t, "caddy.service"), -1)
	if len(found) != 2 {
		t.Fatalf("the unit has %d commands", len(found))
	}
	for _, command := range found {
		parsed := new(cobra.Command)
		caddycmd.Commands()[command[1]].CobraFunc(parsed)
		testcaddy.Must(t, parsed.ParseFlags(strings.Fields(command[2])))
		if config, _ := parsed.Flags().GetString("config"); config != "/etc/caddy/Caddyfile" {
			t.Errorf("%s reads %s", command[1], config)
		}
	}
}

func TestTheTableOfAlertsNamesEveryAlert(t *testing.T) {
	var onPage []string
	for _, row := range tableOf(t, "docs/deploy.md", "alert") {
		onPage = append(onPage, strings.Trim(row[0], "`"))
	}
	inFile := foundIn(t, "contrib/alerts.yml", regexp.MustCompile(`- alert: (\w+)`))
	checkSame(t, "docs/deploy.md", onPage, inFile)
}

func readContrib(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("contrib", name))
	testcaddy.Must(t, err)
	return string(text)
}
